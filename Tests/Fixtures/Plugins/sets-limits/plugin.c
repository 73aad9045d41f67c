// Sets limits to the values of these macros: TIMEOUT_NS, ATTEMPT_TIMEOUT_NS, RESPONSE_BYTES and ATTEMPTS. Sets the
// files REQUEST_FILE and RESPONSE_FILE as bodies, with FLAGS.
#include "../stage.h"

#ifndef FLAGS
#define FLAGS 0
#endif

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  (void)exchange, (void)api;
#ifdef TIMEOUT_NS
  tell(instance, "timeout", api->limit_set(exchange, SLUICE_LIMIT_TIMEOUT_NS, TIMEOUT_NS));
#endif
#ifdef ATTEMPT_TIMEOUT_NS
  tell(instance, "attempt-timeout", api->limit_set(exchange, SLUICE_LIMIT_ATTEMPT_TIMEOUT_NS, ATTEMPT_TIMEOUT_NS));
#endif
#ifdef RESPONSE_BYTES
  tell(instance, "bytes", api->limit_set(exchange, SLUICE_LIMIT_RESPONSE_BYTES, RESPONSE_BYTES));
#endif
#ifdef ATTEMPTS
  tell(instance, "attempts", api->limit_set(exchange, SLUICE_LIMIT_ATTEMPTS, ATTEMPTS));
#endif
#ifdef REQUEST_FILE
  tell(instance, "request-file", api->body_set_file(exchange, SLUICE_SIDE_REQUEST, text(REQUEST_FILE), FLAGS));
#endif
  tell(instance, "zero", api->limit_set(exchange, SLUICE_LIMIT_ATTEMPTS, 0));
  tell(instance, "unknown", api->limit_set(exchange, 99, 1));
  tell(instance, "relative", api->body_set_file(exchange, SLUICE_SIDE_REQUEST, text("relative"), 0));
  tell(instance, "folder", api->body_set_file(exchange, SLUICE_SIDE_REQUEST, text("/tmp"), 0));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
#ifdef RESPONSE_FILE
  tell(instance, "response-file", api->body_set_file(exchange, SLUICE_SIDE_RESPONSE, text(RESPONSE_FILE), FLAGS));
#endif
  tell(instance, "late-limit", api->limit_set(exchange, SLUICE_LIMIT_ATTEMPTS, 1));
  tell(instance, "late-file", api->body_set_file(exchange, SLUICE_SIDE_REQUEST, text("/dev/null"), 0));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
