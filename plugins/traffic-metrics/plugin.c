/// Counts transactions by method, status and outcome, and their durations, in metrics of the host.
#include <stdio.h>
#include <stdlib.h>

#include <sluice/sluice.h>

typedef struct traffic {
  const sluice_host *host;
  const sluice_metrics *metrics;
  sluice_metric transactions;
  sluice_metric retries;
  sluice_metric duration;
} traffic;

/// Defines a metric. This must happen when the instance is created; the values of the labels are not known before
/// transactions end.
static sluice_status define(traffic *self, const sluice_metric_definition *definition, sluice_metric *metric,
                            sluice_error *error) {
  if (self->metrics->define(self->host, definition, metric) == SLUICE_STATUS_OK) return SLUICE_STATUS_OK;
  return sluice_error_set(error, "the host refuses the metric \"%s\"; its log says why", definition->name);
}

static sluice_status define_all(traffic *self, sluice_error *error) {
  static const char *const labels[] = {"method", "status", "outcome"};
  static const char *const reasons[] = {"reason"};
  const sluice_metric_definition transactions =
      SLUICE_TABLE(sluice_metric_definition,
                   SLUICE_SET(kind, SLUICE_METRIC_COUNTER),
                   SLUICE_SET(name, "transactions"),
                   SLUICE_SET(description, "Transactions that ended."),
                   SLUICE_SET(unit, "{transaction}"),
                   SLUICE_SET(labels, labels),
                   SLUICE_SET(label_count, 3));
  const sluice_metric_definition retries =
      SLUICE_TABLE(sluice_metric_definition,
                   SLUICE_SET(kind, SLUICE_METRIC_COUNTER),
                   SLUICE_SET(name, "retries"),
                   SLUICE_SET(description, "Decisions to send again, by the code of the reason."),
                   SLUICE_SET(unit, "{retry}"),
                   SLUICE_SET(labels, reasons),
                   SLUICE_SET(label_count, 1));
  const sluice_metric_definition duration =
      SLUICE_TABLE(sluice_metric_definition,
                   SLUICE_SET(kind, SLUICE_METRIC_HISTOGRAM),
                   SLUICE_SET(name, "duration"),
                   SLUICE_SET(description, "From the submission of a transaction to its end."),
                   SLUICE_SET(unit, "s"));
  sluice_status status = define(self, &transactions, &self->transactions, error);
  if (status == SLUICE_STATUS_OK) status = define(self, &retries, &self->retries, error);
  return status == SLUICE_STATUS_OK ? define(self, &duration, &self->duration, error) : status;
}

static sluice_text outcome_name(sluice_outcome outcome) {
  switch (outcome) {
    case SLUICE_OUTCOME_SUCCEEDED: return sluice_text_make("succeeded");
    case SLUICE_OUTCOME_CANCELLED: return sluice_text_make("cancelled");
    default: return sluice_text_make("failed");
  }
}

/// Called on every loop at the same time; the plugin needs no lock for recording.
static void did_complete(const traffic *self, const sluice_event *event) {
  char status[12] = "none";
  if (event->status) snprintf(status, sizeof status, "%u", event->status);
  const sluice_text labels[] = {event->method, sluice_text_make(status), outcome_name(event->outcome)};
  self->metrics->record(self->host, self->transactions, labels, 1);
  self->metrics->record(self->host, self->duration, NULL, (double)event->duration_ns / 1e9);
}

static void on_event(void *instance, const sluice_event *event) {
  const traffic *self = instance;
  if (event->kind == SLUICE_EVENT_DID_COMPLETE) did_complete(self, event);
  if (event->kind == SLUICE_EVENT_WILL_RETRY) self->metrics->record(self->host, self->retries, &event->error_code, 1);
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config;
  traffic *self = calloc(1, sizeof *self);
  if (!self) {
    sluice_error_set(error, "out of memory");
    return SLUICE_STATUS_NO_MEMORY;
  }
  self->host = host;
  self->metrics = host->extension(host, SLUICE_METRICS_ID);
  sluice_status status = SLUICE_HAS(self->metrics, record)
                             ? define_all(self, error)
                             : sluice_error_set(error, "this host has no metrics; use the command or the library");
  if (status != SLUICE_STATUS_OK) {
    free(self);
    return status;
  }
  *instance = self;
  return SLUICE_STATUS_OK;
}

static void destroy(void *instance) { free(instance); }

static const sluice_tracer tracer = SLUICE_TABLE(sluice_tracer, SLUICE_SET(on_event, on_event));
SLUICE_EXTENSIONS(extension, {SLUICE_TRACER_ID, &tracer});

SLUICE_REQUIRES(metrics);
SLUICE_PLUGIN("traffic-metrics", "1.0.0",
              SLUICE_SET(summary, "Counts transactions by method, status and outcome"),
              SLUICE_SET(config_schema, "{\"type\": \"object\", \"additionalProperties\": false}"),
              SLUICE_SET(create, create),
              SLUICE_SET(destroy, destroy),
              SLUICE_SET(extension, extension));
