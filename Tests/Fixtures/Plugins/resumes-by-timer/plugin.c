// Suspends each request, and continues in the function of a timer, which enters the exchange.
#include "../stage.h"

typedef struct wait {
  const sluice_host *host;
  sluice_token token;
} wait;

static void fire(void *context) {
  wait *self = context;
  sluice_exchange *exchange = self->host->enter(self->host, self->token);
  if (exchange) sluice_set_request_header(self->host, exchange, "x-timer", "yes");
  self->host->resume(self->host, self->token, exchange ? SLUICE_VERDICT_CONTINUE : SLUICE_VERDICT_FAIL);
  free(self);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  const sluice_timers *timers = host->extension(host, SLUICE_TIMERS_ID);
  wait *self = malloc(sizeof *self);
  self->host = host;
  if (api_of(instance)->suspend(exchange, &self->token) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
  return timers->start(host, 1000000, fire, self, NULL) == SLUICE_STATUS_OK ? SLUICE_VERDICT_SUSPENDED : SLUICE_VERDICT_FAIL;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
SLUICE_REQUIRES(suspend);
SLUICE_REQUIRES(timers);
