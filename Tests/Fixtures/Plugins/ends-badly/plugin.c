// Works correctly, but executes DOES when the process ends: in a destructor of the library or, with ATEXIT, in a
// function that create registers.
#include "../stage.h"

#include <unistd.h>

#ifndef DOES
#define DOES abort()
#endif

static inline void hang(void) {
  for (;;) pause();
}

static void end(void) { DOES; }

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  return api_of(instance)->respond(exchange, 204);
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);

static const void *extension(const char *id) {
  return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? (const void *)&interceptor : NULL;
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
#ifdef ATEXIT
  atexit(end);
#endif
  return fixture_create(host, config, instance, error);
}

#ifndef ATEXIT
__attribute__((destructor)) static void end_library(void) { end(); }
#endif

FIXTURE_PLUGIN(.create = create, .destroy = fixture_destroy, .extension = extension);
