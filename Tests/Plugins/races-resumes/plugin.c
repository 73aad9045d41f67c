// Gathers BATCH tokens, then lets two threads resume all of them at the same time, and counts who won.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "../stage.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

#define BATCH 50

// tokens, wins, already, other
static atomic_long counts[4];
static atomic_long round_number;
static atomic_long finished;
static atomic_int ended;
static sluice_token tokens[BATCH];
static const sluice_host *the_host;
static pthread_t threads[2];

static void *resume(void *context) {
  (void)context;
  for (long seen = 0;;) {
    while (atomic_load(&round_number) == seen) {
      if (atomic_load(&ended)) return NULL;
      sched_yield();
    }
    seen++;
    for (int i = 0; i < BATCH; i++) {
      sluice_status status = the_host->resume(the_host, tokens[i], SLUICE_CONTINUE);
      atomic_fetch_add(&counts[status == SLUICE_OK ? 1 : status == SLUICE_ALREADY ? 2 : 3], 1);
    }
    atomic_fetch_add(&finished, 1);
  }
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  the_host = instance;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, resume, NULL);
  return SLUICE_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)instance, (void)deadline;
  atomic_store(&ended, 1);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  // Both are through with the tokens of the round before, which are not written under their eyes.
  while (atomic_load(&finished) != 2 * atomic_load(&round_number)) sched_yield();
  long count = atomic_fetch_add(&counts[0], 1);
  api_of(instance)->suspend(exchange, &tokens[count % BATCH]);
  if (count % BATCH == BATCH - 1) atomic_fetch_add(&round_number, 1);
  return SLUICE_SUSPENDED;
}

static const sluice_interceptor table = {.size = sizeof table, .on_request = on_request};

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &table;
  return strcmp(id, "fixture.counts") == 0 ? (const void *)counts : NULL;
}

static const sluice_plugin plugin = {
    FIXTURE_TABLE, .extension = extension, .activate = activate, .deactivate = deactivate};
FIXTURE_ENTRY(&plugin)
