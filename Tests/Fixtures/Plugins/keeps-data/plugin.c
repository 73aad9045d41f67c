// Keeps data for a transaction across its attempts.
#include "../stage.h"

static void *keeper;

static void release(void *data) {
  tell(keeper, "release", *(int *)data);
  free(data);
}

static int *number(int value) {
  int *data = malloc(sizeof *data);
  *data = value;
  return data;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  keeper = instance;
  int *data = api->data_get(exchange);
  tell(instance, "data", data ? *data : 0);
  api->data_set(exchange, number(data ? *data + 1 : 1), release);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  sluice_context context = SLUICE_SIZED(sluice_context);
  api_of(instance)->context(exchange, &context);
  if (context.attempt == 0) return api_of(instance)->retry(exchange, 1000);
  tell(instance, "kept", *(int *)api_of(instance)->data_get(exchange));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
