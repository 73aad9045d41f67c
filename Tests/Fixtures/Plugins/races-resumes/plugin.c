// Collects a batch of tokens, then lets two threads resume all of them at the same time, and counts which thread was
// first.
#include "../stage.h"

#define BATCH 50

static sluice_token tokens[BATCH];
static const sluice_host *the_host;

static sluice_status race_for(int index) { return the_host->resume(the_host, tokens[index], SLUICE_VERDICT_CONTINUE); }

#include "../race.h"

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  the_host = instance;
  race_begin();
  return SLUICE_STATUS_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)instance, (void)deadline;
  race_end();
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  long place = race_next();
  api_of(instance)->suspend(exchange, &tokens[place]);
  race_enter(place);
  return SLUICE_VERDICT_SUSPENDED;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &table;
  return strcmp(id, "fixture.counts") == 0 ? (const void *)counts : NULL;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension, .activate = activate, .deactivate = deactivate);
