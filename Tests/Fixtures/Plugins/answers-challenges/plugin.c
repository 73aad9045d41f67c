// Answers challenges of the scheme Bearer with a token. With FAIL=1 it fails, with RETRY=1 it asks for a retry, with
// LATE=1 it answers from a posted function, with NEVER=1 it never answers, with FOR_EVER=1 it answers every challenge
// and not only the first.
#include "../stage.h"

#ifndef FAIL
#define FAIL 0
#endif

#ifndef LATE
#define LATE 0
#endif

#ifndef NEVER
#define NEVER 0
#endif

#ifndef FOR_EVER
#define FOR_EVER 0
#endif

#ifndef RETRY
#define RETRY 0
#endif

struct work {
  void *instance;
  sluice_token token;
};

static sluice_verdict answer(void *instance, sluice_exchange *exchange, const char *header) {
  sluice_text name = text(header);
  tell(instance, "set", api_of(instance)->header_set(exchange, SLUICE_SIDE_REQUEST, name, text("Bearer secret")));
  return SLUICE_VERDICT_RESPOND;
}

static void on_loop(void *context) {
  struct work *work = context;
  const sluice_host *host = host_of(work->instance);
  sluice_exchange *exchange = host->enter(host, work->token);
  tell(work->instance, "resume", host->resume(host, work->token, answer(work->instance, exchange, "authorization")));
  free(work);
}

static sluice_verdict on_challenge(void *instance, sluice_exchange *exchange, const sluice_challenge *challenge) {
  const sluice_host *host = host_of(instance);
  tell(instance, "status", challenge->status);
  tell(instance, "answered", challenge->answered);
  tell_text(instance, "scheme", challenge->scheme);
  tell_text(instance, "parameters", challenge->parameters);
  if (FAIL) return sluice_fail(host, exchange, "no_token", "there is no token");
  if (RETRY) return SLUICE_VERDICT_RETRY;
  if (!sluice_text_equals(challenge->scheme, "Bearer")) return SLUICE_VERDICT_CONTINUE;
  if (challenge->answered > 0 && !FOR_EVER) return SLUICE_VERDICT_CONTINUE;
  tell(instance, "method", host->exchange->method_set(exchange, text("DELETE")));
  if (!LATE && !NEVER) return answer(instance, exchange, challenge->status == 407 ? "proxy-authorization" : "authorization");
  struct work *work = malloc(sizeof *work);
  work->instance = instance;
  sluice_context context = SLUICE_SIZED(sluice_context);
  host->exchange->context(exchange, &context);
  host->exchange->suspend(exchange, &work->token);
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
    SLUICE_TABLE(sluice_interceptor, .on_challenge = on_challenge, .on_cancel = on_cancel);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
