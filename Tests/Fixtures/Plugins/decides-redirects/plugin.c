// Decides about redirects with the answer DECISION. With LATE=1 it answers from a posted function; with NEVER=1 it
// never answers.
#include "../stage.h"

#ifndef DECISION
#define DECISION SLUICE_VERDICT_CONTINUE
#endif

#ifndef LATE
#define LATE 0
#endif

#ifndef NEVER
#define NEVER 0
#endif

struct work {
  void *instance;
  sluice_token token;
};

static sluice_verdict decide(void *instance, sluice_exchange *exchange) {
  if (DECISION == SLUICE_VERDICT_FAIL) return sluice_fail(host_of(instance), exchange, "no_way", "this redirect is not wanted");
  return DECISION;
}

static void on_loop(void *context) {
  struct work *work = context;
  const sluice_host *host = host_of(work->instance);
  sluice_exchange *exchange = host->enter(host, work->token);
  tell(work->instance, "enter", exchange != NULL);
  tell(work->instance, "resume", host->resume(host, work->token, decide(work->instance, exchange)));
  free(work);
}

static sluice_verdict on_redirect(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect) {
  const sluice_host *host = host_of(instance);
  sluice_context context = SLUICE_SIZED(sluice_context);
  host->exchange->context(exchange, &context);
  tell(instance, "hop", context.hop);
  tell(instance, "status", redirect->status);
  tell(instance, "cross", redirect->is_cross_origin);
  tell_text(instance, "url", redirect->url);
  tell_text(instance, "method", redirect->method);
  tell(instance, "seen", host->exchange->status_get(exchange));
  tell(instance, "write", host->exchange->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-late"), text("no")));
  tell(instance, "write-response", host->exchange->header_set(exchange, SLUICE_SIDE_RESPONSE, text("x-late"), text("no")));
  if (!LATE && !NEVER) return decide(instance, exchange);
  struct work *work = malloc(sizeof *work);
  work->instance = instance;
  tell(instance, "suspend", host->exchange->suspend(exchange, &work->token));
  if (NEVER) {
    free(work);
  } else {
    host->post(host, context.loop, on_loop, work);
  }
  return SLUICE_VERDICT_SUSPENDED;
}

static void on_cancel(void *instance, sluice_token token) {
  (void)token;
  tell(instance, "cancel", 1);
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_redirect = on_redirect, .on_cancel = on_cancel);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
