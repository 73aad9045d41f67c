// Defines metrics in `create`, some of them invalid, and records values. The test calls `fixture.record` from its own
// threads.
#include "../stage.h"

typedef void record_function(const sluice_host *host, uint32_t number);

static sluice_metric requests, depth, size, plain;
static const sluice_metrics *metrics;

static sluice_status define(const sluice_host *host, sluice_metric_definition definition, sluice_metric *metric) {
  if (definition.size == 0) definition.size = sizeof definition;
  return metrics->define(host, &definition, metric);
}

static void define_wrong(const sluice_host *host) {
  static const char *const twice[] = {"a", "a"}, *const reserved[] = {"__a"}, *const dotted[] = {"._a"},
                          *const bucket[] = {"le"};
  static const double falling[] = {2, 1}, endless[] = {1, 1.0 / 0.0};
  sluice_metric metric = 0;
  const sluice_metric_definition wrong[] = {
      {.kind = 7, .name = "a"},
      {.kind = SLUICE_METRIC_COUNTER},
      {.kind = SLUICE_METRIC_COUNTER, .name = ""},
      {.kind = SLUICE_METRIC_COUNTER, .name = "with-dash"},
      {.kind = SLUICE_METRIC_COUNTER, .name = "a", .unit = "two words"},
      {.kind = SLUICE_METRIC_COUNTER, .name = "a", .labels = twice, .label_count = 2},
      {.kind = SLUICE_METRIC_COUNTER, .name = "a", .labels = reserved, .label_count = 1},
      {.kind = SLUICE_METRIC_COUNTER, .name = "a", .labels = dotted, .label_count = 1},
      {.kind = SLUICE_METRIC_COUNTER, .name = "a", .label_count = 1},
      {.kind = SLUICE_METRIC_HISTOGRAM, .name = "a", .labels = bucket, .label_count = 1},
      {.kind = SLUICE_METRIC_HISTOGRAM, .name = "a", .bounds = falling, .bound_count = 2},
      {.kind = SLUICE_METRIC_HISTOGRAM, .name = "a", .bounds = endless, .bound_count = 2},
      {.kind = SLUICE_METRIC_COUNTER, .name = "a", .series_limit = 1000000},
      {.size = 8, .kind = SLUICE_METRIC_COUNTER, .name = "a"},
      {.kind = SLUICE_METRIC_COUNTER, .name = "requests", .unit = "{request}"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tell((void *)host, "wrong", define(host, wrong[i], &metric));
  }
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)error;
  static const char *const labels[] = {"method", "status.class"};
  static const double bounds[] = {1, 10, 100};
  metrics = host->extension(host, SLUICE_METRICS_ID);
  define(host, (sluice_metric_definition){.kind = SLUICE_METRIC_COUNTER, .name = "requests", .description = "Say \\ \"how\"\nmany.",
      .unit = "{request}", .labels = labels, .label_count = 2, .series_limit = 3}, &requests);
  define(host, (sluice_metric_definition){.kind = SLUICE_METRIC_GAUGE, .name = "queue.depth"}, &depth);
  define(host, (sluice_metric_definition){.kind = SLUICE_METRIC_HISTOGRAM, .name = "body", .unit = "By", .bounds = bounds,
      .bound_count = 3}, &size);
  define(host, (sluice_metric_definition){.kind = SLUICE_METRIC_COUNTER, .name = "calls"}, &plain);
  if (json_is_true(json_object_get(config, "wrong"))) define_wrong(host);
  tell((void *)host, "in-create", metrics->record(host, plain, NULL, 0));
  *instance = (void *)host;
  return SLUICE_STATUS_OK;
}

/// Can be called from any thread.
static void record(const sluice_host *host, uint32_t number) {
  static const char *const methods[] = {"GET", "PUT", "POST", "HEAD", "LIST"};
  const sluice_text labels[] = {text(methods[number % 5]), text("2xx")};
  metrics->record(host, requests, labels, 1);
  metrics->record(host, size, NULL, number % 200);
  metrics->record(host, plain, NULL, 1);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  const sluice_host *host = host_of(instance);
  const sluice_text labels[] = {text("GET"), text("a\"b\\c\nd")}, broken[] = {text("GET"), {"\xff", 1}};
  metrics->record(host, requests, labels, 2.5);
  metrics->record(host, depth, NULL, 7);
  metrics->record(host, depth, NULL, -3);
  for (int i = 0; i < 4; i++) metrics->record(host, size, NULL, (double[]){1, 1.5, 100, 1e6}[i]);
  tell(instance, "invalid", metrics->record(host, plain, NULL, -1));
  tell(instance, "invalid", metrics->record(host, plain, NULL, 0.0 / 0.0));
  tell(instance, "invalid", metrics->record(host, depth, NULL, 1.0 / 0.0));
  tell(instance, "invalid", metrics->record(host, 0, NULL, 1));
  tell(instance, "invalid", metrics->record(host, 5, NULL, 1));
  tell(instance, "invalid", metrics->record(host, requests, NULL, 1));
  tell(instance, "invalid", metrics->record(host, requests, broken, 1));
  sluice_metric late = 0;
  tell(instance, "late", define(host, (sluice_metric_definition){.kind = SLUICE_METRIC_COUNTER, .name = "late"}, &late));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
static const struct {
  record_function *function;
} recorder = {record};

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &table;
  return strcmp(id, "fixture.record") == 0 ? &recorder : NULL;
}

SLUICE_REQUIRES(metrics);
SLUICE_PLUGIN(
    "records-metrics", "1.0.0", .summary = "A fixture.", .create = create, .destroy = fixture_destroy,
    .extension = extension);
