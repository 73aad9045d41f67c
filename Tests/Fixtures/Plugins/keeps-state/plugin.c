// Counts requests, shows the count in `x-count`, and passes it on as its state. It refuses states that are not a count,
// and crashes in load if the count is 13. FIXTURE_ID is the id of another plugin.
#include <stdio.h>
#include <stdlib.h>

#include "../fixture.h"

struct counter {
  const sluice_host *host;
  json_int_t count;
};

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config, (void)error;
  struct counter *self = calloc(1, sizeof *self);
  if (!self) return SLUICE_STATUS_NO_MEMORY;
  self->host = host;
  *instance = self;
  return SLUICE_STATUS_OK;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  struct counter *self = instance;
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)__atomic_add_fetch(&self->count, 1, __ATOMIC_RELAXED));
  sluice_set_request_header(self->host, exchange, "x-count", text);
  return SLUICE_VERDICT_CONTINUE;
}

static json_t *save(void *instance, sluice_error *error) {
  (void)error;
  return json_pack("{s:I}", "count", __atomic_load_n(&((struct counter *)instance)->count, __ATOMIC_RELAXED));
}

static sluice_status load(void *instance, json_t *state, uint32_t version, sluice_error *error) {
  (void)version;
  const json_t *count = json_object_get(state, "count");
  if (!json_is_integer(count)) return sluice_error_set(error, "\"count\": expected an integer");
  if (json_integer_value(count) == 13) abort();
#ifdef FORGET
  return SLUICE_STATUS_OK;
#endif
  ((struct counter *)instance)->count = json_integer_value(count);
  return SLUICE_STATUS_OK;
}

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
#ifdef OPTIONAL
  static const sluice_state state =
      SLUICE_TABLE(sluice_state, .flags = SLUICE_STATE_OPTIONAL, .version = 1, .save = save, .load = load);
#else
  static const sluice_state state = SLUICE_TABLE(sluice_state, .version = 1, .save = save, .load = load);
#endif
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  return strcmp(id, SLUICE_STATE_ID) == 0 ? (const void *)&state : NULL;
}

FIXTURE_PLUGIN(.create = create, .destroy = free, .extension = extension);
