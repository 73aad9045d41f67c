/// A stage that does one thing, which its configuration names: {"does": "continue"}. It is also a tracer that counts its
/// events.
#include <stdlib.h>
#include <string.h>

#include <sluice/sluice.h>

typedef enum work { WORK_CONTINUE, WORK_SET, WORK_READ, WORK_WRITE } work;

typedef struct bench_stage {
  const sluice_host *host;
  work work;
  uint64_t events;
} bench_stage;

/// The benchmark's requests have this header already, so the stage does not change the request that is sent. In
/// documents, the names of header fields are in lower case.
static const sluice_text name = {"X-Benchmark-Header-0", 20};
static const sluice_text value = {"value-of-header-0", 17};

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  static const char *const works[] = {"continue", "set", "read", "write"};
  const char *wanted = json_string_value(json_object_get(config, "does"));
  bench_stage *stage = calloc(1, sizeof *stage);
  if (!stage) return SLUICE_STATUS_NO_MEMORY;
  stage->host = host;
  for (int index = 0; wanted && index < 4; index++) {
    if (strcmp(wanted, works[index]) != 0) continue;
    stage->work = (work)index;
    *instance = stage;
    return SLUICE_STATUS_OK;
  }
  free(stage);
  return sluice_error_set(error, "\"does\": expected \"continue\", \"set\", \"read\" or \"write\"");
}

static void destroy(void *instance) { free(instance); }

static sluice_verdict failed(bench_stage *stage, sluice_exchange *exchange) {
  return sluice_fail(stage->host, exchange, "bench_stage", "the host refused a call of the benchmark's stage");
}

/// Sets a field of a live document. Returns 0 if that fails.
static int set_field(json_t *document) {
  json_t *headers = json_object_get(document, "headers");
  return headers && json_object_set_new(headers, "x-benchmark-header-0", json_string(value.data)) == 0;
}

static sluice_verdict on_message(bench_stage *stage, sluice_exchange *exchange, sluice_side side) {
  const sluice_exchange_api *api = stage->host->exchange;
  json_t *document;
  switch (stage->work) {
    case WORK_CONTINUE: return SLUICE_VERDICT_CONTINUE;
    case WORK_SET:
      if (api->header_set(exchange, side, name, value) != SLUICE_STATUS_OK) return failed(stage, exchange);
      return SLUICE_VERDICT_CONTINUE;
    case WORK_READ:
      document = api->json(exchange, side, SLUICE_JSON_READ);
      if (!json_object_get(document, "headers")) return failed(stage, exchange);
      return SLUICE_VERDICT_CONTINUE;
    case WORK_WRITE:
      document = api->json(exchange, side, SLUICE_JSON_WRITE);
      if (!set_field(document)) return failed(stage, exchange);
      return SLUICE_VERDICT_CONTINUE;
  }
  return failed(stage, exchange);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  return on_message(instance, exchange, SLUICE_SIDE_REQUEST);
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  return on_message(instance, exchange, SLUICE_SIDE_RESPONSE);
}

static void on_event(void *instance, const sluice_event *event) {
  (void)event;
  ((bench_stage *)instance)->events++;
}

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor,
                 SLUICE_SET(on_request, on_request),
                 SLUICE_SET(on_response, on_response));
static const sluice_tracer tracer = SLUICE_TABLE(sluice_tracer, SLUICE_SET(on_event, on_event));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_TRACER_ID, &tracer});

SLUICE_PLUGIN("bench-stage", "1.0.0",
              SLUICE_SET(summary, "Does one thing, for the benchmarks"),
              SLUICE_SET(create, create),
              SLUICE_SET(destroy, destroy),
              SLUICE_SET(extension, extension));
