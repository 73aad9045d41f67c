// Asks for whole bodies if the path of the request begins with "/ask", and logs the bodies.
#include <sluice/draft/want_body.h>

#include "../stage.h"

static sluice_status ask(void *instance, sluice_exchange *exchange, sluice_side side) {
  const sluice_want_body *table = host_of(instance)->extension(host_of(instance), SLUICE_WANT_BODY_ID);
  return table ? table->want_body(exchange, side) : SLUICE_STATUS_UNSUPPORTED;
}

static void tell_body(void *instance, sluice_exchange *exchange, sluice_side side, const char *name) {
  sluice_bytes bytes = bytes_of("(none)");
  if (api_of(instance)->body_get(exchange, side, &bytes) == SLUICE_STATUS_UNSUPPORTED) bytes = bytes_of("(streamed)");
  tell_text(instance, name, sluice_bytes_text(bytes));
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  sluice_context context = SLUICE_SIZED(sluice_context);
  api_of(instance)->context(exchange, &context);
  tell_body(instance, exchange, SLUICE_SIDE_REQUEST, "request");
  if (context.path.size >= 4 && memcmp(context.path.data, "/ask", 4) == 0) {
    tell(instance, "ask-request", ask(instance, exchange, SLUICE_SIDE_REQUEST));
    tell(instance, "ask-response", ask(instance, exchange, SLUICE_SIDE_RESPONSE));
  }
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  tell_body(instance, exchange, SLUICE_SIDE_RESPONSE, "response");
  tell(instance, "late-ask", ask(instance, exchange, SLUICE_SIDE_RESPONSE));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);

static const void *extension(const char *id) { return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL; }

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
