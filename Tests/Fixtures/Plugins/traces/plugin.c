// Logs every event, and tries to write to the exchange.
#include "../stage.h"

static void on_event(void *instance, const sluice_event *event) {
  tell(instance, "event", event->kind);
  sluice_text value = {0};
  api_of(instance)->header_get(event->exchange, SLUICE_SIDE_REQUEST, text("x-a"), &value);
  tell_text(instance, "x-a", value);
  tell(instance, "write", sluice_set_request_header(host_of(instance), event->exchange, "x-a", "no"));
  if (event->kind == SLUICE_EVENT_DID_COMPLETE) {
    tell(instance, "outcome", event->outcome);
    tell(instance, "status", event->status);
    tell_text(instance, "url", event->url);
    tell_text(instance, "code", event->error_code);
    tell_text(instance, "stage", event->error_stage);
  }
}

static const sluice_tracer table = SLUICE_TABLE(sluice_tracer, .on_event = on_event);
STAGE_PLUGIN(SLUICE_TRACER_ID, table);
