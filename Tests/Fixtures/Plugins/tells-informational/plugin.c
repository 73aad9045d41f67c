// Logs informational responses. In that call it also tries to write and to fail, which are not allowed.
#include "../stage.h"

static void on_informational(void *instance, sluice_exchange *exchange, const sluice_informational *response) {
  tell(instance, "informational", response->status);
  for (size_t i = 0; i < response->field_count; i++) {
    tell_text(instance, "name", response->fields[i].name);
    tell_text(instance, "value", response->fields[i].value);
  }
  sluice_context context = {.size = sizeof context};
  tell(instance, "context", api_of(instance)->context(exchange, &context));
  tell(instance, "write", sluice_set_request_header(host_of(instance), exchange, "x-a", "no"));
  sluice_token token;
  tell(instance, "suspend", api_of(instance)->suspend(exchange, &token));
  sluice_fail(host_of(instance), exchange, "no", "no");
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  tell(instance, "response", api_of(instance)->status_get(exchange));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_response = on_response, .on_informational = on_informational);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
