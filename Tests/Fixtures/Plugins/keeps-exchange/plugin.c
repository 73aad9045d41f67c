// Keeps the exchange pointer of on_request, and uses it in on_response.
#include "../stage.h"

static sluice_exchange *kept;

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)instance;
  kept = exchange;
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  const sluice_exchange_api *api = api_of(instance);
  sluice_text value;
  tell(instance, "set", api->header_set(kept, SLUICE_SIDE_RESPONSE, text("x-kept"), text("yes")));
  tell(instance, "get", api->header_get(kept, SLUICE_SIDE_REQUEST, text("x"), &value));
  tell(instance, "status", api->status_get(kept));
  tell(instance, "json", api->json(kept, SLUICE_SIDE_RESPONSE, SLUICE_JSON_WRITE) != NULL);
  tell(instance, "respond", api->respond(kept, 204));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
