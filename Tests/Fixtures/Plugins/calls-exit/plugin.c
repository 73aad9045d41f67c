// Answers each request itself. For a request to a URL that ends with /end, it ends the process with DOES (default
// exit(0)). With ON_THREAD it does this on a separate thread. FLAGS are the flags of the stage.
#define _GNU_SOURCE
#include "../stage.h"

#include <pthread.h>
#include <unistd.h>

#ifndef DOES
#define DOES exit(0)
#endif

static void *end(void *context) {
  (void)context;
  DOES;
  return NULL;
}

static void end_elsewhere(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, end, NULL) == 0) pthread_join(thread, NULL);
}

#ifdef WITH_HANDLER
static void crash(void) { abort(); }
#endif

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_text url = {0};
  api->url_get(exchange, &url);
  static const char mark[] = "/end";
  const size_t length = sizeof mark - 1;
  if (url.size >= length && memcmp(url.data + url.size - length, mark, length) == 0) {
#ifdef ON_THREAD
    end_elsewhere();
#else
    (void)end_elsewhere;
    end(NULL);
#endif
  }
  return api->respond(exchange, 204);
}

#ifndef FLAGS
#define FLAGS 0
#endif
static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor, .flags = FLAGS, .on_request = on_request);

#ifdef WITH_HANDLER
__attribute__((constructor)) static void arm(void) { atexit(crash); }
#endif

STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, interceptor);
