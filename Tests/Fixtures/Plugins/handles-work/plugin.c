// Performs the action that the topic of a notification, or the name of scheduled work, names. In activate, it schedules
// the work that its `config` lists: {"schedules": [{"name": "take", "periodMs": 5, "deadlineMs": 1000}]}. With "takes"
// in its `config`, it takes only this topic.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../fixture.h"

typedef struct worker {
  const sluice_host *host;
  const sluice_completions *completions;
  json_t *config;
  atomic_int calls;
  atomic_int inside;
  atomic_int overlaps;
  atomic_int is_over;
  sluice_completion kept;
} worker;

/// The work that the plugin's own thread completes.
typedef struct errand {
  worker *worker;
  sluice_completion completion;
} errand;

static sem_t gate;

static void tell(worker *self, const char *name, long number) {
  char line[256];
  snprintf(line, sizeof line, "%s=%ld", name, number);
  sluice_log(self->host, SLUICE_LOG_WARNING, line);
}

static long complete(worker *self, sluice_completion completion, sluice_work_outcome outcome) {
  return self->completions->complete(self->host, completion, outcome);
}

static void *run_errand(void *context) {
  errand *self = context;
  tell(self->worker, "elsewhere", complete(self->worker, self->completion, SLUICE_WORK_NEW_DATA));
  free(self);
  return NULL;
}

static void start_errand(worker *self, sluice_completion completion) {
  errand *made = malloc(sizeof *made);
  *made = (errand){self, completion};
  pthread_t thread;
  pthread_create(&thread, NULL, run_errand, made);
  pthread_detach(thread);
}

static void forge(worker *self, sluice_completion completion) {
  sluice_completion forged = completion;
  forged.nonce ^= 1;
  tell(self, "forged", complete(self, forged, SLUICE_WORK_NEW_DATA));
  forged = completion;
  forged.slot = 0xFFFFFFFFu;
  tell(self, "forged", complete(self, forged, SLUICE_WORK_NEW_DATA));
  forged = completion;
  forged.generation += 1;
  tell(self, "forged", complete(self, forged, SLUICE_WORK_NEW_DATA));
  tell(self, "forged", complete(self, (sluice_completion){0, 0, 0}, SLUICE_WORK_NEW_DATA));
  complete(self, completion, SLUICE_WORK_NO_DATA);
}

static sluice_status perform(worker *self, const char *name, sluice_completion completion) {
  if (strcmp(name, "take") == 0) complete(self, completion, SLUICE_WORK_NEW_DATA);
  if (strcmp(name, "nothing") == 0) complete(self, completion, SLUICE_WORK_NO_DATA);
  if (strcmp(name, "fail") == 0) complete(self, completion, SLUICE_WORK_FAILED);
  if (strcmp(name, "pass") == 0) return SLUICE_STATUS_ABSENT;
  if (strcmp(name, "fault") == 0) return SLUICE_STATUS_FAILED;
  if (strcmp(name, "elsewhere") == 0) start_errand(self, completion);
  if (strcmp(name, "forge") == 0) forge(self, completion);
  if (strcmp(name, "keep") == 0) self->kept = completion;
  if (strcmp(name, "twice") == 0) {
    tell(self, "first", complete(self, completion, SLUICE_WORK_NEW_DATA));
    tell(self, "second", complete(self, completion, SLUICE_WORK_FAILED));
  }
  if (strcmp(name, "no-outcome") == 0) {
    tell(self, "no-outcome", complete(self, completion, 0));
    tell(self, "no-outcome", complete(self, completion, 4));
    complete(self, completion, SLUICE_WORK_FAILED);
  }
  if (strcmp(name, "use-kept") == 0) {
    tell(self, "kept", complete(self, self->kept, SLUICE_WORK_NEW_DATA));
    complete(self, completion, SLUICE_WORK_NO_DATA);
  }
  if (strcmp(name, "complete-and-pass") == 0) {
    complete(self, completion, SLUICE_WORK_NEW_DATA);
    return SLUICE_STATUS_ABSENT;
  }
  if (strcmp(name, "block") == 0) {
    sem_wait(&gate);
    tell(self, "unblocked", complete(self, completion, SLUICE_WORK_NEW_DATA));
  }
  return SLUICE_STATUS_OK;
}

/// Every call runs through this function, which checks that calls come one at a time, and not after the end of the
/// instance.
static sluice_status call(worker *self, const char *kind, const char *name, sluice_completion completion) {
  if (atomic_fetch_add(&self->inside, 1) > 0) atomic_fetch_add(&self->overlaps, 1);
  if (atomic_load(&self->is_over)) tell(self, "late-call", 1);
  char line[256];
  snprintf(line, sizeof line, "%s-%s", kind, name);
  tell(self, line, atomic_fetch_add(&self->calls, 1));
  sluice_status status = perform(self, name, completion);
  atomic_fetch_sub(&self->inside, 1);
  return status;
}

static void copy(char *name, size_t capacity, sluice_text text) {
  snprintf(name, capacity, "%.*s", (int)text.size, text.data);
}

static sluice_status on_notification(
    void *instance, sluice_text topic, json_t *payload, sluice_completion completion) {
  worker *self = instance;
  char name[64];
  copy(name, sizeof name, topic);
  const char *only = json_string_value(json_object_get(self->config, "takes"));
  tell(self, "payload", json_integer_value(json_object_get(payload, "number")));
  // The payload is the plugin's own copy, so the next plugin does not see this change.
  json_object_set_new(payload, "number", json_integer(-1));
  if (only && strcmp(only, name) != 0) strcpy(name, "pass");
  return call(self, "notified", name, completion);
}

static void on_schedule(void *instance, sluice_text text, sluice_completion completion) {
  char name[64];
  copy(name, sizeof name, text);
  call(instance, "scheduled", name, completion);
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)error;
  worker *self = calloc(1, sizeof *self);
  self->host = host;
  self->config = json_deep_copy(config);
  self->completions = host->extension(host, SLUICE_COMPLETIONS_ID);
  sem_init(&gate, 0, 0);
  *instance = self;
  return SLUICE_STATUS_OK;
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  worker *self = instance;
  const sluice_timers *timers = self->host->extension(self->host, SLUICE_TIMERS_ID);
  size_t index;
  json_t *schedule;
  json_array_foreach(json_object_get(self->config, "schedules"), index, schedule) {
    sluice_timer timer = 0;
    sluice_status status = timers->schedule(
        self->host, sluice_text_make(json_string_value(json_object_get(schedule, "name"))),
        (uint64_t)json_integer_value(json_object_get(schedule, "periodMs")) * 1000000,
        (uint64_t)json_integer_value(json_object_get(schedule, "deadlineMs")) * 1000000, &timer);
    tell(self, "schedule", status);
    if (json_is_true(json_object_get(schedule, "cancel"))) {
      tell(self, "cancel", timers->cancel(self->host, timer));
      tell(self, "cancel", timers->cancel(self->host, timer));
    }
  }
  return SLUICE_STATUS_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)deadline;
  worker *self = instance;
  atomic_store(&self->is_over, 1);
  tell(self, "deactivated", complete(self, self->kept, SLUICE_WORK_NEW_DATA));
}

static void destroy(void *instance) {
  worker *self = instance;
  tell(self, "overlaps", atomic_load(&self->overlaps));
  tell(self, "calls", atomic_load(&self->calls));
  json_decref(self->config);
  // The memory is not freed, because the plugin's own thread might still use it.
}

#ifdef ONLY_NOTIFICATIONS
static const sluice_notifications table = SLUICE_TABLE(sluice_notifications, .on_notification = on_notification);
#else
static const sluice_notifications table =
    SLUICE_TABLE(sluice_notifications, .on_notification = on_notification, .on_schedule = on_schedule);
#endif

static const void *extension(const char *id) {
  (void)on_schedule;
  if (strcmp(id, SLUICE_NOTIFICATIONS_ID) == 0) return &table;
  return strcmp(id, "fixture.gate") == 0 ? &gate : NULL;
}

SLUICE_REQUIRES(notifications);
SLUICE_REQUIRES(timers);
SLUICE_PLUGIN(
    "handles-work", "1.0.0", .summary = "A fixture.", .create = create, .activate = activate,
    .deactivate = deactivate, .destroy = destroy, .extension = extension);
