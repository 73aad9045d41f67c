// Reads the host's counts in create, in on_request and in destroy, and logs those of transactions and hops.
#include <sluice/draft/reports.h>

#include "../stage.h"

static const sluice_reports *reports_of(void *instance) {
  return host_of(instance)->extension(host_of(instance), SLUICE_REPORTS_ID);
}

static void tell_report(void *instance, const char *when) {
  const sluice_reports *reports = reports_of(instance);
  if (!SLUICE_HAS(reports, metrics)) return tell_text(instance, when, text("no table"));
  json_t *report = reports->metrics(host_of(instance));
  if (!report) return tell_text(instance, when, text("NULL"));
  json_t *engine = json_object_get(report, "engine");
  json_t *transactions = json_object_get(engine, "transactions");
  char line[128];
  snprintf(
      line, sizeof line, "begun %lld, succeeded %lld, hops %lld", (long long)json_integer_value(json_object_get(transactions, "begun")),
      (long long)json_integer_value(json_object_get(transactions, "succeeded")),
      (long long)json_integer_value(json_object_get(engine, "hops")));
  tell_text(instance, when, text(line));
  // The document belongs to the caller, which can change it.
  json_object_clear(report);
  json_decref(report);
}

static sluice_status create(
    const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config, (void)error;
  *instance = (void *)host;
  tell_report(*instance, "create");
  return SLUICE_STATUS_OK;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  tell_report(instance, "request");
  return SLUICE_VERDICT_CONTINUE;
}

static void destroy(void *instance) { tell_report(instance, "destroy"); }

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &table});
FIXTURE_PLUGIN(.create = create, .destroy = destroy, .extension = extension);
