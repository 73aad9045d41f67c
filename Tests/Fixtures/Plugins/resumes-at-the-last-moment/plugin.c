// Suspends a request for /waits. A request for /blocks then blocks the loop beyond the deadline of the first request,
// and meanwhile a thread resumes the first request. When the loop continues, the deadline has passed, but the
// resumption is not delivered yet.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <time.h>

#include "../stage.h"

static sluice_token token;

static void *resume(void *instance) {
  tell(instance, "resume", host_of(instance)->resume(host_of(instance), token, SLUICE_VERDICT_CONTINUE));
  return NULL;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  sluice_context context = SLUICE_SIZED(sluice_context);
  api_of(instance)->context(exchange, &context);
  if (sluice_text_equals(context.path, "/waits")) {
    api_of(instance)->suspend(exchange, &token);
    return SLUICE_VERDICT_SUSPENDED;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, resume, instance);
  pthread_join(thread, NULL);
  nanosleep(&(struct timespec){.tv_nsec = BLOCK_NS}, NULL);
  return SLUICE_VERDICT_CONTINUE;
}

static void on_cancel(void *instance, sluice_token cancelled) {
  (void)cancelled;
  tell(instance, "cancel", 1);
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_cancel = on_cancel);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
