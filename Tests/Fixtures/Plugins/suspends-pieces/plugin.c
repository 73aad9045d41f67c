// Suspends on each piece of a response body. Its own thread then replaces the piece by "<late>". If ONLY is given, it
// suspends only on pieces that begin with this character. With NEVER=1 it never resumes.
#include <pthread.h>

#include "../stage.h"

#ifndef ONLY
#define ONLY 0
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
  tell(work->instance, "late", host->exchange->body_write(exchange, SLUICE_SIDE_RESPONSE, bytes_of("<late>")));
  tell(work->instance, "resume", host->resume(host, work->token, SLUICE_VERDICT_CONTINUE));
  free(work);
}

static void *thread(void *context) {
  struct work *work = context;
  const sluice_host *host = host_of(work->instance);
  host->post(host, work->loop, on_loop, work);
  return NULL;
}

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)side;
  if (ONLY && (piece.size == 0 || piece.data[0] != ONLY)) return SLUICE_BODY_VERDICT_PASS;
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
  return SLUICE_BODY_VERDICT_SUSPENDED;
}

static void on_cancel(void *instance, sluice_token token) {
  (void)token;
  tell(instance, "cancel", 1);
}

static const sluice_body body = SLUICE_TABLE(sluice_body, .sides = SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk);
static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_cancel = on_cancel);

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_BODY_ID) == 0) return &body;
  return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &interceptor : NULL;
}

SLUICE_REQUIRES(streamed_body);
FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
