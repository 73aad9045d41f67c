// Answers with the verdict that the header x-answer names; on_failure always responds.
#include "../stage.h"

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_text answer = sluice_request_header(host_of(instance), exchange, "x-answer");
  if (sluice_text_equals(answer, "fail")) return sluice_fail(host_of(instance), exchange, "no_luck", "not today");
  if (sluice_text_equals(answer, "fail-badly")) return sluice_fail(host_of(instance), exchange, "No Luck", "not today");
  if (sluice_text_equals(answer, "respond-badly")) return api->respond(exchange, 100);
  if (sluice_text_equals(answer, "respond-and-go-on")) api->respond(exchange, 418);
  if (!sluice_text_equals(answer, "respond")) return SLUICE_VERDICT_CONTINUE;
  sluice_verdict verdict = api->respond(exchange, 299);
  api->header_set(exchange, SLUICE_SIDE_RESPONSE, text("x-made"), text("here"));
  api->body_set(exchange, SLUICE_SIDE_RESPONSE, bytes_of("made"));
  return verdict;
}

static sluice_verdict on_failure(void *instance, sluice_exchange *exchange, const sluice_failure *failure) {
  tell_text(instance, "code", failure->code);
  tell(instance, "before", failure->is_before_sending);
  return api_of(instance)->respond(exchange, 203);
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_failure = on_failure);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
