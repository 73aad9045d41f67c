// Answers with VERDICT, but without the actions that this verdict requires.
#include "../stage.h"

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  return VERDICT;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
