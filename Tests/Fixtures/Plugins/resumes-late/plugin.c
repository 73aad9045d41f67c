// Suspends its first exchange. A thread that outlives the instance resumes it twice, after the instance is destroyed.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <semaphore.h>

#include "../stage.h"

static const sluice_host *host;
static sluice_token token;
static sem_t over;

static void *resume(void *context) {
  (void)context;
  sem_wait(&over);
  for (int turn = 0; turn < 2; turn++) {
    if (host->resume(host, token, SLUICE_VERDICT_CONTINUE) != SLUICE_STATUS_STALE) abort();
  }
  return NULL;
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  pthread_t thread;
  host = host_of(instance);
  sem_init(&over, 0, 0);
  if (pthread_create(&thread, NULL, resume, NULL) == 0) pthread_detach(thread);
  return SLUICE_STATUS_OK;
}

static void destroy(void *instance) {
  (void)instance;
  sem_post(&over);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  if (api_of(instance)->suspend(exchange, &token) != SLUICE_STATUS_OK) return SLUICE_VERDICT_FAIL;
  tell(instance, "suspended", 1);
  return SLUICE_VERDICT_SUSPENDED;
}

static const void *extension(const char *id) {
  static const sluice_interceptor table =
      SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_request);
  return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL;
}

SLUICE_REQUIRES(suspend);
SLUICE_PLUGIN(
    "resumes-late", "1.0.0", .summary = "A fixture.", .create = fixture_create, .activate = activate,
    .destroy = destroy, .extension = extension);
