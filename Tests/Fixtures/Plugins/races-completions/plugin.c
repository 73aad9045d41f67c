// Takes a batch of notifications, then lets two threads complete all of them at the same time, and counts which thread
// was first.
#include "../stage.h"

#define BATCH 50

static sluice_completion completions[BATCH];
static const sluice_host *the_host;
static const sluice_completions *the_table;

static sluice_status race_for(int index) {
  return the_table->complete(the_host, completions[index], SLUICE_WORK_NEW_DATA);
}

#include "../race.h"

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  the_host = instance;
  the_table = the_host->extension(the_host, SLUICE_COMPLETIONS_ID);
  race_begin();
  return SLUICE_STATUS_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)instance, (void)deadline;
  race_end();
}

static sluice_status on_notification(void *instance, sluice_text topic, json_t *payload, sluice_completion completion) {
  (void)instance, (void)topic, (void)payload;
  long place = race_next();
  completions[place] = completion;
  race_enter(place);
  return SLUICE_STATUS_OK;
}

static const sluice_notifications table = SLUICE_TABLE(sluice_notifications, .on_notification = on_notification);

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_NOTIFICATIONS_ID) == 0) return &table;
  return strcmp(id, "fixture.counts") == 0 ? (const void *)counts : NULL;
}

SLUICE_REQUIRES(notifications);
FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension, .activate = activate, .deactivate = deactivate);
