// Starts call-outs in create and in activate, and call-outs with invalid arguments.
#include "../stage.h"

static void completed(void *instance, const sluice_call_result *result) {
  tell_text(instance, "code", result->error_code);
}

static sluice_status start(const sluice_host *host, json_t *request, const sluice_call_options *options) {
  const sluice_callout *callout = host->extension(host, SLUICE_CALLOUT_ID);
  sluice_status status = callout->start(host, request, options, completed, (void *)host, NULL);
  json_decref(request);
  return status;
}

static json_t *request(const char *url) { return json_pack("{s:s}", "url", url); }

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config, (void)error;
  *instance = (void *)host;
  tell(*instance, "in-create", start(host, request("http://127.0.0.1:9/"), NULL));
  return SLUICE_STATUS_OK;
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  const sluice_host *host = host_of(instance);
  const sluice_callout *callout = host->extension(host, SLUICE_CALLOUT_ID);
  sluice_call_options too_short = {.size = 4};
  tell(instance, "in-activate", start(host, request("http://127.0.0.1:9/"), NULL));
  tell(instance, "no-url", start(host, json_object(), NULL));
  tell(instance, "other-scheme", start(host, request("ftp://127.0.0.1/"), NULL));
  tell(instance, "line-break", start(host, json_pack("{s:s, s:{s:s}}", "url", "http://a/", "headers", "a", "b\r\nc"), NULL));
  tell(instance, "short-options", start(host, request("http://127.0.0.1:9/"), &too_short));
  tell(instance, "no-request", start(host, NULL, NULL));
  json_t *any = request("http://127.0.0.1:9/");
  tell(instance, "no-completion", callout->start(host, any, NULL, NULL, NULL, NULL));
  json_decref(any);
  return ACTIVATE;
}

static void destroy(void *instance) { tell(instance, "destroyed", 1); }

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
static const void *extension(const char *id) { return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL; }
SLUICE_REQUIRES(callout);
FIXTURE_PLUGIN(.create = create, .activate = activate, .destroy = destroy, .extension = extension);
