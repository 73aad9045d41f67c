#define _GNU_SOURCE
#include <stdlib.h>

// The tests talk to servers of this machine, under contexts that they make up: what the caller's shell says of either
// must not reach them. A constructor, because libcurl and the children that tests start read the environment too.
__attribute__((constructor)) static void forget_environment(void) {
  static const char *const names[] = {
      "http_proxy",  "https_proxy", "HTTPS_PROXY",         "all_proxy",         "ALL_PROXY",
      "no_proxy",    "NO_PROXY",    "HTTP_PROXY",          "TRACEPARENT",       "TRACESTATE",
      "BAGGAGE",     "SSLKEYLOGFILE", "OTEL_PROPAGATORS",  "OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME",
      "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "NO_COLOR", "CLICOLOR_FORCE", "SLUICE_CONFIG",
  };
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) unsetenv(names[index]);
}
