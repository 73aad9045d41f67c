// Counts in a value, and sets two timers, one of which it cancels.
#include "../stage.h"

static const sluice_timers *timers;
static sluice_timer cancelled;

static void fire(void *instance) {
  tell(instance, "fired", 1);
  tell(instance, "cancel-late", timers->cancel(host_of(instance), cancelled));
}

static void never(void *instance) { tell(instance, "never", 1); }

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  const sluice_host *host = host_of(instance);
  const sluice_values *values = host->extension(host, SLUICE_VALUES_ID);
  timers = host->extension(host, SLUICE_TIMERS_ID);
  int64_t value = -1;
  tell(instance, "absent", values->get(host, text("other"), &value));
  values->add(host, text("calls"), 2, &value);
  tell(instance, "value", value);
  int64_t expected = 7;
  tell(instance, "differs", values->compare_exchange(host, text("calls"), &expected, 9));
  tell(instance, "expected", expected);
  timers->start(host, 1000000, fire, instance, NULL);
  timers->start(host, 2000000, never, instance, &cancelled);
  tell(instance, "cancel", timers->cancel(host, cancelled));
  tell(instance, "unknown", host->extension(host, "sluice.unknown/1") != NULL);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
