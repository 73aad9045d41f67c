// Resumes before its call returns: with the verdict "suspended", with forged tokens, and twice with the right token.
#include "../stage.h"

static sluice_token last;

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  sluice_token token, second;
  tell(instance, "suspend", host->exchange->suspend(exchange, &token));
  tell(instance, "suspend-again", host->exchange->suspend(exchange, &second));
  tell(instance, "suspended", host->resume(host, token, SLUICE_VERDICT_SUSPENDED));
  sluice_token forged = token;
  forged.nonce ^= 1;
  tell(instance, "forged", host->resume(host, forged, SLUICE_VERDICT_CONTINUE));
  forged = token;
  forged.slot |= 0xFF000000u;
  tell(instance, "forged-loop", host->resume(host, forged, SLUICE_VERDICT_CONTINUE));
  tell(instance, "first", host->resume(host, token, SLUICE_VERDICT_CONTINUE));
  tell(instance, "second", host->resume(host, token, SLUICE_VERDICT_FAIL));
  last = token;
  return SLUICE_VERDICT_SUSPENDED;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  tell(instance, "late", host_of(instance)->resume(host_of(instance), last, SLUICE_VERDICT_CONTINUE) > 0);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
