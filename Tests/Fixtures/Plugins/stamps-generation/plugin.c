// Stamps GENERATION into each request and compares it with the stamp in the response. Counts transactions in a value,
// and generations in its state. The library has its number in a marker, into which the tests write other numbers.
// MISBEHAVIOUR names the fault of a build.
#define _POSIX_C_SOURCE 200809L
#include "../stage.h"

#ifndef STATE_FLAGS
#define STATE_FLAGS 0
#endif

// The faults that a build can have.
enum {
  NOTHING, FAILS_CREATE, GIVES_NULL, FAILS_ACTIVATE, REFUSES_STATE, SAVES_NONE, SAVES_TOO_MUCH, FAILS_REQUESTS, SUSPENDS,
  BREAKS_RULES, CRASHES_LATER
};
#ifndef MISBEHAVIOUR
#define MISBEHAVIOUR NOTHING
#endif

static const volatile char marker[] = "swap-generation:00000000";

static int generation(void) {
  int number = 0;
  for (int place = 16; place < 24; place++) number = number * 10 + (marker[place] - '0');
  return number;
}

typedef struct stage {
  const sluice_host *host;
  const sluice_values *values;
  const char *header;
  const char *key;
  // The number of generations before this one.
  json_int_t before;
  sluice_metric calls;
} stage;

static char all[(8 << 20) + 1];

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  if (MISBEHAVIOUR == FAILS_CREATE) return sluice_error_set(error, "the moon is missing");
  if (MISBEHAVIOUR == GIVES_NULL) return SLUICE_STATUS_OK;
  stage *self = calloc(1, sizeof *self);
  self->host = host;
  self->values = host->extension(host, SLUICE_VALUES_ID);
  const char *header = json_string_value(json_object_get(config, "header"));
  self->header = header ? strdup(header) : strdup("x-generation");
  const sluice_metrics *metrics = host->extension(host, SLUICE_METRICS_ID);
  sluice_metric_definition definition = {
      .size = sizeof definition, .kind = SLUICE_METRIC_COUNTER, .name = "calls", .description = "Requests."};
  if (metrics->define(host, &definition, &self->calls) != SLUICE_STATUS_OK) return sluice_error_set(error, "no metric");
  *instance = self;
  return SLUICE_STATUS_OK;
}

static void say(stage *self, const char *what) {
  char line[96];
  snprintf(line, sizeof line, "%s=%d", what, generation());
  sluice_log(self->host, SLUICE_LOG_INFO, line);
}

static sluice_status activate(void *instance, sluice_error *error) {
  if (MISBEHAVIOUR == FAILS_ACTIVATE) return sluice_error_set(error, "the moon is down");
  say(instance, "activated");
  return SLUICE_STATUS_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)deadline;
  say(instance, "deactivated");
}

static void say_value(stage *self, const char *key) {
  char line[96];
  int64_t value = -1;
  self->values->get(self->host, text(key), &value);
  snprintf(line, sizeof line, "%s=%lld", key, (long long)value);
  sluice_log(self->host, SLUICE_LOG_INFO, line);
}

static void destroy(void *instance) {
  stage *self = instance;
  say(self, "destroyed");
  say_value(self, "requests");
  say_value(self, "responses");
  say_value(self, "exchanged");
  free((char *)self->header);
  free(self);
}

static int number(stage *self, sluice_exchange *exchange, sluice_side side) {
  sluice_text value;
  char copy[16] = "";
  if (self->host->exchange->header_get(exchange, side, text(self->header), &value) != SLUICE_STATUS_OK) return -1;
  memcpy(copy, value.data, value.size < sizeof copy - 1 ? value.size : sizeof copy - 1);
  return atoi(copy);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  stage *self = instance;
  const sluice_exchange_api *api = self->host->exchange;
  const sluice_metrics *metrics = self->host->extension(self->host, SLUICE_METRICS_ID);
  char stamp[16];
  snprintf(stamp, sizeof stamp, "%d", generation());
  self->values->add(self->host, text("requests"), 1, NULL);
  int64_t seen = 0;
  while (self->values->compare_exchange(self->host, text("exchanged"), &seen, seen + 1) == SLUICE_STATUS_ABSENT) continue;
  metrics->record(self->host, self->calls, NULL, 1);
  api->header_set(exchange, SLUICE_SIDE_REQUEST, text(self->header), text(stamp));
  if (MISBEHAVIOUR == FAILS_REQUESTS) return sluice_fail(self->host, exchange, "moon", "no moon");
  if (MISBEHAVIOUR == BREAKS_RULES) api->header_set(exchange, SLUICE_SIDE_REQUEST, text("a b"), text("c"));
  if (MISBEHAVIOUR == CRASHES_LATER) {
    static _Atomic int calls;
    if (++calls == 500) abort();
  }
  if (MISBEHAVIOUR == SUSPENDS) {
    sluice_token token;
    if (api->suspend(exchange, &token) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
    char line[96];
    snprintf(line, sizeof line, "token=%u,%u,%llu", token.slot, token.generation, (unsigned long long)token.nonce);
    sluice_log(self->host, SLUICE_LOG_INFO, line);
    return SLUICE_VERDICT_SUSPENDED;
  }
  return SLUICE_VERDICT_CONTINUE;
}

// The header of the request must come from this build, even if another build was published in the meantime.
static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  stage *self = instance;
  char stamp[16];
  snprintf(stamp, sizeof stamp, "%d", generation());
  if (number(self, exchange, SLUICE_SIDE_REQUEST) != generation()) {
    return sluice_fail(self->host, exchange, "torn", "the request was another generation's");
  }
  self->values->add(self->host, text("responses"), 1, NULL);
  self->host->exchange->header_set(exchange, SLUICE_SIDE_RESPONSE, text(self->header), text(stamp));
  return SLUICE_VERDICT_CONTINUE;
}

static json_t *save(void *instance, sluice_error *error) {
  stage *self = instance;
  if (MISBEHAVIOUR == SAVES_NONE) {
    sluice_error_set(error, "the moon cannot be saved");
    return NULL;
  }
  if (MISBEHAVIOUR == SAVES_TOO_MUCH) {
    memset(all, 'm', sizeof all - 1);
    return json_pack("[s, s]", all, all);
  }
  return json_pack("{s: I}", "generations", self->before + 1);
}

static sluice_status load(void *instance, json_t *state, uint32_t from_version, sluice_error *error) {
  stage *self = instance;
  if (MISBEHAVIOUR == REFUSES_STATE) return sluice_error_set(error, "an old moon, of version %u", from_version);
  self->before = json_integer_value(json_object_get(state, "generations"));
  char line[96];
  snprintf(line, sizeof line, "before=%lld", (long long)self->before);
  sluice_log(self->host, SLUICE_LOG_INFO, line);
  return SLUICE_STATUS_OK;
}

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor =
      SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);
  static const sluice_state state =
      SLUICE_TABLE(sluice_state, .flags = STATE_FLAGS, .version = 7, .save = save, .load = load);
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  if (strcmp(id, SLUICE_STATE_ID) == 0) return &state;
  return NULL;
}

SLUICE_REQUIRES(values);
SLUICE_PLUGIN(
    "stamps-generation", "1.0.0", .summary = "A fixture.", .create = create, .activate = activate,
    .deactivate = deactivate, .destroy = destroy, .extension = extension);
