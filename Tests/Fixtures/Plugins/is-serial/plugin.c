// Declares itself SERIAL and notes when two calls run at the same time. Each call takes some time, so that overlapping
// calls are noticed. BLOCKING makes the plugin blocking too, without the functions that a serial and blocking plugin
// must not have. ISSUE, TRACES and PIECES each add one of these functions.
#include <stdatomic.h>

#include "../stage.h"

// calls, overlaps
static atomic_int counts[2];
static atomic_int inside;

static void visit(void) {
  if (atomic_fetch_add(&inside, 1) != 0) atomic_fetch_add(&counts[1], 1);
  for (volatile int i = 0; i < 20000; i++) {
  }
  atomic_fetch_add(&counts[0], 1);
  atomic_fetch_sub(&inside, 1);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  visit();
  sluice_set_request_header(host_of(instance), exchange, "x-turn", "yes");
  if (!sluice_request_header(host_of(instance), exchange, "x-suspend").data) return SLUICE_VERDICT_CONTINUE;
  sluice_token token;
  if (host_of(instance)->exchange->suspend(exchange, &token) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
  host_of(instance)->resume(host_of(instance), token, SLUICE_VERDICT_CONTINUE);
  return SLUICE_VERDICT_SUSPENDED;
}

#if !defined(BLOCKING) || defined(ISSUE)
static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  visit();
  return SLUICE_VERDICT_CONTINUE;
}
#define ON_ISSUE on_issue
#else
#define ON_ISSUE NULL
#endif

#ifdef TRACES
static void on_event(void *instance, const sluice_event *event) {
  (void)instance, (void)event;
}

static const sluice_tracer tracer = SLUICE_TABLE(sluice_tracer, .on_event = on_event);
#endif

#ifdef PIECES
static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)instance, (void)exchange, (void)side, (void)piece;
  return SLUICE_BODY_VERDICT_PASS;
}

static const sluice_body body = SLUICE_TABLE(sluice_body, .sides = SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk);
#endif

static const sluice_interceptor table = {
#ifdef BLOCKING
    .flags = SLUICE_FLAG_SERIAL | SLUICE_FLAG_BLOCKING,
#else
    .flags = SLUICE_FLAG_SERIAL,
#endif
    .size = sizeof table, .on_request = on_request, .on_issue = ON_ISSUE};

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &table;
#ifdef TRACES
  if (strcmp(id, SLUICE_TRACER_ID) == 0) return &tracer;
#endif
#ifdef PIECES
  if (strcmp(id, SLUICE_BODY_ID) == 0) return &body;
#endif
  return strcmp(id, "fixture.counts") == 0 ? (const void *)counts : NULL;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
