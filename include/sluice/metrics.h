/// Metrics of an instance: the host's table `sluice.metrics/1`.
///
/// A plugin defines its metrics in `create` and cannot change them later; recording takes no lock.
#ifndef SLUICE_METRICS_H
#define SLUICE_METRICS_H

#include <stdint.h>

#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_METRICS_ID "sluice.metrics/1"

typedef uint32_t sluice_metric;
typedef uint32_t sluice_metric_kind;
enum { SLUICE_METRIC_COUNTER = 1, SLUICE_METRIC_GAUGE = 2, SLUICE_METRIC_HISTOGRAM = 3 };

typedef struct sluice_metric_definition {
  uint32_t size;
  sluice_metric_kind kind;
  /// The name can contain letters, digits, `_` and `.`; the host puts the instance's name before it.
  const char *name;
  const char *description;
  /// UCUM, for instance `s`, `By`, `{request}`.
  const char *unit;
  /// Names of the labels.
  const char *const *labels;
  uint32_t label_count;
  /// Maximum number of label combinations; further ones are counted together in a series named overflow. 0 means 100.
  uint32_t series_limit;
  /// Upper bounds of a histogram, ascending; NULL means the host's bounds.
  const double *bounds;
  uint32_t bound_count;
  uint32_t reserved;
} sluice_metric_definition;
#define SLUICE_METRIC_DEFINITION_SIZE_1 64u

typedef struct sluice_metrics {
  uint32_t size;
  uint32_t reserved;
  /// Defines a metric, only inside `create`; returns SLUICE_STATUS_REFUSED later. [control]
  sluice_status (*define)(const sluice_host *host, const sluice_metric_definition *definition, sluice_metric *metric);
  /// Adds to a counter, sets a gauge, records into a histogram. `labels` has as many values as the definition has
  /// names. [any]
  sluice_status (*record)(const sluice_host *host, sluice_metric metric, const sluice_text *labels, double value);
} sluice_metrics;
#define SLUICE_METRICS_SIZE_1 24u

#endif
