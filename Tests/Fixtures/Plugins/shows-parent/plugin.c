// Reads the caller's trace from the context, and sets headers of each hop to it.
#include "../stage.h"

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_context context = SLUICE_SIZED(sluice_context);
  if (api->context(exchange, &context) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
  api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-parent"), context.parent_traceparent);
  api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-state"), context.parent_tracestate);
  api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-baggage"), context.parent_baggage);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_issue = on_issue);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
