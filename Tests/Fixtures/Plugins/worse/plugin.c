// A build that is worse than another one: FAILS of a thousand requests fail, DELAYED of a thousand wait for DELAY_US before
// they go on, and SUSPENDED of a thousand never go on.
#include "../stage.h"

#ifndef FAILS
#define FAILS 0
#endif
#ifndef DELAYED
#define DELAYED 0
#endif
#ifndef DELAY_US
#define DELAY_US 0
#endif
#ifndef SUSPENDED
#define SUSPENDED 0
#endif

// Builds with the same behaviour differ in this number.
#ifndef BUILD
#define BUILD 1
#endif
__attribute__((used)) static const volatile int build = BUILD;

typedef struct delay {
  void *instance;
  sluice_token token;
} delay;

static void resume(void *context) {
  delay *self = context;
  host_of(self->instance)->resume(host_of(self->instance), self->token, SLUICE_VERDICT_CONTINUE);
  free(self);
}

static sluice_verdict wait_for_timer(void *instance, sluice_exchange *exchange) {
  const sluice_timers *timers = host_of(instance)->extension(host_of(instance), SLUICE_TIMERS_ID);
  delay *self = malloc(sizeof *self);
  self->instance = instance;
  if (api_of(instance)->suspend(exchange, &self->token) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
  if (timers->start(host_of(instance), DELAY_US * 1000ull, resume, self, NULL) != SLUICE_STATUS_OK) abort();
  return SLUICE_VERDICT_SUSPENDED;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  if (rand() % 1000 < FAILS) return sluice_fail(host_of(instance), exchange, "moon", "no moon");
  if (rand() % 1000 < DELAYED) return wait_for_timer(instance, exchange);
  sluice_token token;
  if (rand() % 1000 < SUSPENDED && api_of(instance)->suspend(exchange, &token) == SLUICE_STATUS_OK)
    return SLUICE_VERDICT_SUSPENDED;
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
