// Starts COUNT calls at the same time, and counts their results.
#include <stdatomic.h>

#include "../stage.h"

static atomic_int completions;
static int started;

static void completed(void *instance, const sluice_call_result *result) {
  if (!result->has_response) tell_text(instance, "code", result->error_code);
  if (atomic_fetch_add(&completions, 1) + 1 == started) tell(instance, "completions", started);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  const sluice_callout *callout = host->extension(host, SLUICE_CALLOUT_ID);
  sluice_text target = sluice_request_header(host, exchange, "x-target");
  json_t *request = json_pack("{s:s%}", "url", target.data, target.size);
  int limits = 0;
  // On a loop, no completion runs before this function returns. So each completion sees the final value of `started`.
  for (int i = 0; i < COUNT; i++) {
    sluice_status status = callout->start(host, request, NULL, completed, instance, NULL);
    started += status == SLUICE_STATUS_OK;
    limits += status == SLUICE_STATUS_LIMIT;
  }
  json_decref(request);
  tell(instance, "started", started);
  tell(instance, "limits", limits);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
