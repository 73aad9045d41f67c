// Reads the response with its body twice: when there is a challenge, before the body has arrived, and in on_response.
// With WRITE=1, on_response also changes the status. In on_request it sets a file of an impossible size as the request
// body, and asks for this file.
#include "../stage.h"

#ifndef WRITE
#define WRITE 0
#endif

static json_t *body_of(void *instance, sluice_exchange *exchange, uint32_t flags) {
  json_t *document = api_of(instance)->json(exchange, SLUICE_SIDE_RESPONSE, flags | SLUICE_JSON_BODY);
  if (flags & SLUICE_JSON_WRITE) json_object_set_new(document, "status", json_integer(203));
  return json_object_get(document, "body");
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  json_t *document = api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  json_object_set_new(document, "body", json_pack("{s:s, s:i}", "file", "/x", "bytes", -1));
  uint64_t bytes = 1;
  tell(instance, "file", api->body_file(exchange, SLUICE_SIDE_REQUEST, NULL, &bytes));
  tell(instance, "bytes", (long)bytes);
  json_object_del(document, "body");
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_challenge(void *instance, sluice_exchange *exchange, const sluice_challenge *challenge) {
  (void)challenge;
  tell(instance, "early", body_of(instance, exchange, SLUICE_JSON_READ) != NULL);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  tell(instance, "body", body_of(instance, exchange, WRITE ? SLUICE_JSON_WRITE : SLUICE_JSON_READ) != NULL);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .wants = SLUICE_WANTS_RESPONSE_BODY, .on_request = on_request,
                 .on_response = on_response, .on_challenge = on_challenge);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
