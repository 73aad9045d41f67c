// A correct plugin. Builds with different values of VALUE have different content. "fixture.counter" is the library's
// own variable.
#include "../fixture.h"

#ifndef VALUE
#define VALUE 0
#endif

static int counter = VALUE;

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  return SLUICE_VERDICT_CONTINUE;
}

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  return strcmp(id, "fixture.counter") == 0 ? &counter : NULL;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension, .config_schema = "{}");
