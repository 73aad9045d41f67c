// Sets the header x-stamp-a to BUILD. With LOOPS, on_request never returns if the URL ends with /loop. With
// ENDS_THREAD, on_request then ends the thread of the event loop instead. With POSTS, activate posts a function to loop
// 0 that never returns, except in a trial.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "../stage.h"

#ifndef BUILD
#define BUILD 1
#endif
#ifndef LOOPS
#define LOOPS 1
#endif

__attribute__((noinline)) static void never_return(void) {
#ifdef ENDS_THREAD
  pthread_exit(NULL);
#else
  for (volatile int forever = 1; forever;) continue;
#endif
}

#ifdef POSTS
static void loop_forever(void *context) {
  (void)context;
  never_return();
}
#endif

static sluice_status activate(void *instance, sluice_error *error) {
  (void)instance, (void)error;
#ifdef POSTS
  if ((host_of(instance)->flags & SLUICE_HOST_TRIAL) == 0) host_of(instance)->post(host_of(instance), 0, loop_forever, instance);
#endif
  return SLUICE_STATUS_OK;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_text url = {0};
  api->url_get(exchange, &url);
  static const char end[] = "/loop";
  size_t length = sizeof end - 1;
  if (LOOPS && url.size >= length && memcmp(url.data + url.size - length, end, length) == 0) never_return();
  char build[16];
  snprintf(build, sizeof build, "%d", BUILD);
  return api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-stamp-a"), text(build)) == SLUICE_STATUS_OK ? SLUICE_VERDICT_CONTINUE
                                                                                                 : SLUICE_VERDICT_FAIL;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
FIXTURE_PLUGIN(FIXTURE_LIFE, .activate = activate, .extension = extension);
