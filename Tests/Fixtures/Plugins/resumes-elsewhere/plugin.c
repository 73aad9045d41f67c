// Suspends. Its own thread posts a function, which changes a header and resumes. VERDICT is the verdict of the
// resumption; with NEVER=1 it never resumes.
#include <pthread.h>

#include "../stage.h"

#ifndef VERDICT
#define VERDICT SLUICE_VERDICT_CONTINUE
#endif

#ifndef NEVER
#define NEVER 0
#endif

struct work {
  void *instance;
  sluice_token token;
  sluice_loop loop;
};

static void on_loop(void *context) {
  struct work *work = context;
  const sluice_host *host = host_of(work->instance);
  sluice_exchange *exchange = host->enter(host, work->token);
  tell(work->instance, "enter", exchange != NULL);
  tell(work->instance, "enter-again", host->enter(host, work->token) == exchange);
  sluice_set_request_header(host, exchange, "x-late", "yes");
  if (VERDICT == SLUICE_VERDICT_FAIL) sluice_fail(host, exchange, "too_late", "the thread said no");
  if (VERDICT == SLUICE_VERDICT_RESPOND) host->exchange->respond(exchange, 203);
  tell(work->instance, "resume", host->resume(host, work->token, VERDICT));
  tell(work->instance, "after", sluice_set_request_header(host, exchange, "x-after", "no"));
  tell(work->instance, "enter-late", host->enter(host, work->token) != NULL);
  free(work);
}

static void *thread(void *context) {
  struct work *work = context;
  void *instance = work->instance;
  const sluice_host *host = host_of(instance);
  tell(instance, "enter-elsewhere", host->enter(host, work->token) != NULL);
  tell(instance, "post-nowhere", host->post(host, 99, on_loop, work));
  // The posted function now owns the work and frees it.
  sluice_status status = host->post(host, work->loop, on_loop, work);
  tell(instance, "post", status);
  return NULL;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  sluice_context context = SLUICE_SIZED(sluice_context);
  host->exchange->context(exchange, &context);
  struct work *work = malloc(sizeof *work);
  *work = (struct work){.instance = instance, .loop = context.loop};
  host->exchange->suspend(exchange, &work->token);
  pthread_t id;
  if (NEVER) {
    free(work);
  } else if (pthread_create(&id, NULL, thread, work) == 0) {
    pthread_detach(id);
  }
  return SLUICE_VERDICT_SUSPENDED;
}

static void on_cancel(void *instance, sluice_token token) {
  tell(instance, "cancel", 1);
  tell(instance, "resume-cancelled", host_of(instance)->resume(host_of(instance), token, SLUICE_VERDICT_CONTINUE));
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_cancel = on_cancel);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
