// Adds COUNT fields with values of SIZE bytes to the request and to the response: by `header_add`, or with SETS by
// `header_set`. With ISSUES=1 they are added to the hop instead of the request. With WITH_DOCUMENT, it first asks for
// the live documents. Tells how many were added, and the answer to the last. Then gives x-0 a shorter value.
#include "../stage.h"

#ifndef ISSUES
#define ISSUES 0
#endif

static void add_all(void *instance, sluice_exchange *exchange, sluice_side side) {
  static char value[SIZE + 1];
  memset(value, 'v', SIZE);
  const sluice_exchange_api *api = api_of(instance);
  long added = 0, answer = 0;
#ifdef WITH_DOCUMENT
  api->json(exchange, side, SLUICE_JSON_WRITE);
#endif
  for (int i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "x-%d", i);
#ifdef SETS
    answer = api->header_set(exchange, side, text(name), text(value));
#else
    answer = api->header_add(exchange, side, text(name), text(value));
#endif
    if (answer == SLUICE_STATUS_OK) added++;
  }
  tell(instance, "added", added);
  tell(instance, "answer", answer);
  tell(instance, "shorter", api->header_set(exchange, side, text("x-0"), text("")));
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  if (!ISSUES) add_all(instance, exchange, SLUICE_SIDE_REQUEST);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  if (ISSUES) add_all(instance, exchange, SLUICE_SIDE_REQUEST);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  add_all(instance, exchange, SLUICE_SIDE_RESPONSE);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(
    sluice_interceptor, .on_request = on_request, .on_issue = on_issue, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
