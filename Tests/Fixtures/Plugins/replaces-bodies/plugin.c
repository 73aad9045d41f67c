// Changes the response when its head has arrived. HOW names the kind of change.
#include "../stage.h"

#define RESPOND 1
#define SET_EMPTY 2
#define DOCUMENT 3
#define HEADER_ALONE 4

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  if (HOW == RESPOND) return api->respond(exchange, 203);
  if (HOW == SET_EMPTY) {
    tell(instance, "set", api->body_set(exchange, SLUICE_SIDE_RESPONSE, bytes_of("")));
    return SLUICE_VERDICT_CONTINUE;
  }
  if (HOW == DOCUMENT) {
    json_t *document = api->json(exchange, SLUICE_SIDE_RESPONSE, SLUICE_JSON_WRITE);
    json_object_set_new(document, "body", json_pack("{s:s}", "text", ""));
    return SLUICE_VERDICT_CONTINUE;
  }
  tell(instance, "header", api->header_set(exchange, SLUICE_SIDE_RESPONSE, text("x-seen"), text("yes")));
  return SLUICE_VERDICT_RESPOND;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
