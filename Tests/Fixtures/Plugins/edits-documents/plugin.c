// Changes both live documents in place, except for the bodies if KEEPS_BODY is defined. SETS_TEXT is a text that becomes
// the body of the request before the body is asked for as JSON. REQUEST_FIELD, REQUEST_TRAILER, RESPONSE_FIELD and RESPONSE_TRAILER are names of fields that it adds.
#include "../stage.h"

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  json_t *view = api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_READ);
  tell(instance, "view", view != NULL);
  tell(instance, "same", api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_READ) == view);
  // Sets a header with the host's function while the document exists. The next document must contain this header.
  api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-native"), text("yes"));
  json_t *document = api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  tell(instance, "native", json_object_get(json_object_get(document, "headers"), "x-native") != NULL);
  json_t *body = json_object_get(json_object_get(document, "body"), "json");
  tell(instance, "a", json_integer_value(json_object_get(body, "a")));
#ifdef SETS_TEXT
  json_object_set_new(document, "body", json_pack("{s:s}", "text", SETS_TEXT));
  api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_READ | SLUICE_JSON_BODY);
  body = json_object_get(json_object_get(document, "body"), "json");
  tell(instance, "parsed", body != NULL);
#endif
#ifndef KEEPS_BODY
  json_object_set_new(body, "b", json_integer(2));
#endif
  sluice_bytes bytes = {0};
  api->body_get(exchange, SLUICE_SIDE_REQUEST, &bytes);
  tell(instance, "size", (long)bytes.size);
  json_object_set_new(json_object_get(document, "headers"), "x-document", json_string("yes"));
  json_object_set_new(document, "method", json_string("PATCH"));
#ifdef INVALID
  json_object_set_new(document, "url", json_integer(1));
#endif
#ifdef INVALID_METHOD
  json_object_set_new(document, "method", json_string("P ATCH"));
#endif
#ifdef INVALID_HEADER
  json_object_set_new(json_object_get(document, "headers"), "x-document", json_integer(1));
#endif
#ifdef REQUEST_FIELD
  json_object_set_new(json_object_get(document, "headers"), REQUEST_FIELD, json_string("x"));
#endif
#ifdef REQUEST_TRAILER
  json_object_set_new(document, "trailers", json_pack("{s:s}", REQUEST_TRAILER, "x"));
#endif
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  json_t *document = api->json(exchange, SLUICE_SIDE_RESPONSE, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  json_t *body = json_object_get(json_object_get(document, "body"), "json");
#ifndef KEEPS_BODY
  json_object_set_new(body, "seen", json_true());
#endif
  (void)body;
  json_object_set_new(document, "status", json_integer(202));
#ifdef RESPONSE_FIELD
  json_object_set_new(json_object_get(document, "headers"), RESPONSE_FIELD, json_string("x"));
#endif
#ifdef RESPONSE_TRAILER
  json_object_set_new(document, "trailers", json_pack("{s:s}", RESPONSE_TRAILER, "x"));
#endif
  tell(instance, "status-is", api->status_get(exchange));
  tell(instance, "request", api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_WRITE) != NULL);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .wants = SLUICE_WANTS_RESPONSE_BODY, .on_request = on_request,
                 .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
