// Defines the metrics of its configuration, and records a value in each of them:
// {"metrics": [{"kind": "gauge", "name": "depth", "description": "…", "unit": "s", "label": "queue"}]}
#include "../stage.h"

static sluice_metric_kind kind_of(const char *name) {
  if (strcmp(name, "counter") == 0) return SLUICE_METRIC_COUNTER;
  return strcmp(name, "gauge") == 0 ? SLUICE_METRIC_GAUGE : SLUICE_METRIC_HISTOGRAM;
}

static const char *member(const json_t *object, const char *key) {
  const char *value = json_string_value(json_object_get(object, key));
  return value ? value : "";
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)error;
  const sluice_metrics *metrics = host->extension(host, SLUICE_METRICS_ID);
  size_t index;
  json_t *given;
  json_array_foreach(json_object_get(config, "metrics"), index, given) {
    const char *label = member(given, "label");
    sluice_metric_definition definition = {.size = sizeof definition, .kind = kind_of(member(given, "kind")),
        .name = member(given, "name"), .description = member(given, "description"), .unit = member(given, "unit"),
        .labels = &label, .label_count = *label ? 1 : 0};
    sluice_metric metric = 0;
    tell((void *)host, "defined", metrics->define(host, &definition, &metric));
    const sluice_text value = text("x");
    metrics->record(host, metric, &value, 1);
  }
  *instance = (void *)host;
  return SLUICE_STATUS_OK;
}

SLUICE_REQUIRES(metrics);
FIXTURE_PLUGIN(.create = create, .destroy = fixture_destroy, .extension = fixture_no_extension);
