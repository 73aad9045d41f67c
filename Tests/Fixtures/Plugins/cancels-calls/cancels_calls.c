// Starts a call, cancels it twice, and a third time when it is complete.
#include "../stage.h"

static const sluice_callout *callout;
static sluice_call call;

static void completed(void *instance, const sluice_call_result *result) {
  tell_text(instance, "code", result->error_code);
  tell(instance, "cancel-in-completion", callout->cancel(host_of(instance), call));
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  callout = host->extension(host, SLUICE_CALLOUT_ID);
  sluice_text target = sluice_request_header(host, exchange, "x-target");
  json_t *request = json_pack("{s:s%}", "url", target.data, target.size);
  tell(instance, "start", callout->start(host, request, NULL, completed, instance, &call));
  json_decref(request);
  return SLUICE_VERDICT_CONTINUE;
}

// Another loop might have begun the call by now. In this case, the server keeps the call's request unanswered.
static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  tell(instance, "cancel", callout->cancel(host_of(instance), call));
  tell(instance, "cancel-again", callout->cancel(host_of(instance), call));
  tell(instance, "cancel-unknown", callout->cancel(host_of(instance), 4711));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
