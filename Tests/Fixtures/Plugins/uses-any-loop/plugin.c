// Starts work that any loop can do. `activate` schedules "one" and "two". A notification "start" starts four timers and
// four call-outs on the thread of the notification, which belongs to no loop. A notification "keep" is taken, but has
// no outcome.
#include "../stage.h"

static const sluice_completions *completions_of(void *instance) {
  return host_of(instance)->extension(host_of(instance), SLUICE_COMPLETIONS_ID);
}

static const sluice_timers *timers_of(void *instance) {
  return host_of(instance)->extension(host_of(instance), SLUICE_TIMERS_ID);
}

static void timer_fired(void *instance) { tell(instance, "timer", 1); }

static void call_ended(void *instance, const sluice_call_result *result) {
  (void)result;
  tell(instance, "call", 1);
}

static void start(void *instance) {
  const sluice_callout *callout = host_of(instance)->extension(host_of(instance), SLUICE_CALLOUT_ID);
  sluice_call_options options = {.size = sizeof options, .timeout_ns = 200000000};
  // Nothing listens at port 1.
  json_t *request = json_pack("{s:s, s:s}", "method", "GET", "url", "http://127.0.0.1:1/");
  for (int number = 0; number < 4; number++) {
    timers_of(instance)->start(host_of(instance), 50000000, timer_fired, instance, NULL);
    callout->start(host_of(instance), request, &options, call_ended, instance, NULL);
  }
  json_decref(request);
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  timers_of(instance)->schedule(host_of(instance), text("one"), 20000000, 10000000000, NULL);
  timers_of(instance)->schedule(host_of(instance), text("two"), 20000000, 10000000000, NULL);
  return SLUICE_STATUS_OK;
}

static sluice_status on_notification(void *instance, sluice_text topic, json_t *payload, sluice_completion completion) {
  (void)payload;
  if (topic.size != 5) return SLUICE_STATUS_OK;
  start(instance);
  completions_of(instance)->complete(host_of(instance), completion, SLUICE_WORK_NEW_DATA);
  return SLUICE_STATUS_OK;
}

static void on_schedule(void *instance, sluice_text name, sluice_completion completion) {
  (void)name;
  completions_of(instance)->complete(host_of(instance), completion, SLUICE_WORK_NEW_DATA);
}

static const sluice_notifications table =
    SLUICE_TABLE(sluice_notifications, .on_notification = on_notification, .on_schedule = on_schedule);

SLUICE_EXTENSIONS(extension, {SLUICE_NOTIFICATIONS_ID, &table});
FIXTURE_PLUGIN(FIXTURE_LIFE, .activate = activate, .extension = extension);
