// A plugin with every table that a plugin can have. EXTRA is the number of bytes by which each table is longer than in
// revision 1. SHORT is the id of a table that is made shorter.
#include <sluice/draft/stage.h>

#include "../fixture.h"

#ifndef SHORT
#define SHORT ""
#endif

SLUICE_PLUGIN_NOTE("1.0.0");

/// A table, followed in memory by members of a newer revision, or by other data.
#define GROWN(type) \
  struct {          \
    type table;     \
    void *newer[4]; \
  }
#define NEWER {(void *)1, (void *)1, (void *)1, (void *)1}
#define SIZE(id, least) ((least) + (strcmp(SHORT, (id)) == 0 ? -4 : EXTRA))

static GROWN(sluice_interceptor) interceptor = {{0}, NEWER};
static GROWN(sluice_body) body = {{0}, NEWER};
static GROWN(sluice_tracer) tracer = {{0}, NEWER};
static GROWN(sluice_state) state = {{0}, NEWER};
static GROWN(sluice_notifications) notifications = {{0}, NEWER};
static GROWN(sluice_stage) stage = {{0}, NEWER};
static GROWN(sluice_selftest_case) first = {{0}, NEWER};
static GROWN(sluice_selftest) selftest = {{0}, NEWER};
static GROWN(sluice_plugin) plugin = {{FIXTURE_TABLE}, NEWER};

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)instance, (void)exchange, (void)side, (void)piece;
  return SLUICE_BODY_VERDICT_PASS;
}

static void on_event(void *instance, const sluice_event *event) { (void)instance, (void)event; }

static json_t *save(void *instance, sluice_error *error) {
  (void)instance, (void)error;
  return json_object();
}

static sluice_status load(void *instance, json_t *saved, uint32_t from_version, sluice_error *error) {
  (void)instance, (void)saved, (void)from_version, (void)error;
  return SLUICE_STATUS_OK;
}

static sluice_status create_stage(void *instance, json_t *config, void **made, sluice_error *error) {
  (void)config, (void)error;
  *made = instance;
  return SLUICE_STATUS_OK;
}

static void destroy_stage(void *instance, void *made) { (void)instance, (void)made; }

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  if (strcmp(id, SLUICE_BODY_ID) == 0) return &body;
  if (strcmp(id, SLUICE_TRACER_ID) == 0) return &tracer;
  if (strcmp(id, SLUICE_STATE_ID) == 0) return &state;
  if (strcmp(id, SLUICE_NOTIFICATIONS_ID) == 0) return &notifications;
  if (strcmp(id, SLUICE_STAGE_ID) == 0) return &stage;
  return strcmp(id, SLUICE_SELFTEST_ID) == 0 ? &selftest : NULL;
}

const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) {
  (void)host, (void)abi, (void)error;
  static const sluice_selftest_case *cases[] = {&first.table};
  interceptor.table.size = SIZE(SLUICE_INTERCEPTOR_ID, SLUICE_INTERCEPTOR_SIZE_1);
  body.table = (sluice_body){.size = SIZE(SLUICE_BODY_ID, SLUICE_BODY_SIZE_1), .on_chunk = on_chunk};
  tracer.table = (sluice_tracer){.size = SIZE(SLUICE_TRACER_ID, SLUICE_TRACER_SIZE_1), .on_event = on_event};
  state.table = (sluice_state){.size = SIZE(SLUICE_STATE_ID, SLUICE_STATE_SIZE_1), .save = save, .load = load};
  notifications.table.size = SIZE(SLUICE_NOTIFICATIONS_ID, SLUICE_NOTIFICATIONS_SIZE_1);
  stage.table = (sluice_stage){
      .size = SIZE(SLUICE_STAGE_ID, SLUICE_STAGE_SIZE_1), .create_stage = create_stage, .destroy_stage = destroy_stage};
  first.table.size = SIZE("case", SLUICE_SELFTEST_CASE_SIZE_1);
  first.table.name = "a";
  first.table.description = "Nothing.";
  selftest.table =
      (sluice_selftest){.size = SIZE(SLUICE_SELFTEST_ID, SLUICE_SELFTEST_SIZE_1), .count = 1, .cases = cases};
  plugin.table.size = SIZE("sluice_plugin", SLUICE_PLUGIN_SIZE_1);
  plugin.table.extension = extension;
  return &plugin.table;
}
