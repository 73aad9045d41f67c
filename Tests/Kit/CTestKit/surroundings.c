#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/resource.h>

// Sets up the environment that the tests need, whatever the caller's shell has set. These are constructors, so that
// they run before any test: the transport and the children that tests start read the environment too.

// The servers are on this machine and the trace contexts are made up: no setting of the caller must affect them.
__attribute__((constructor)) static void forget_environment(void) {
  static const char *const names[] = {
      "http_proxy",       "https_proxy",       "HTTP_PROXY",        "HTTPS_PROXY",          "all_proxy",
      "ALL_PROXY",        "no_proxy",          "NO_PROXY",          "TRACEPARENT",          "TRACESTATE",
      "BAGGAGE",          "SSLKEYLOGFILE",     "OTEL_PROPAGATORS",  "OTEL_SDK_DISABLED",    "OTEL_SERVICE_NAME",
      "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "NO_COLOR",
  };
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) unsetenv(names[index]);
}

// Tests run side by side, each with its own servers and clients, so the usual limit of 1,024 descriptors is too low.
__attribute__((constructor)) static void raise_descriptor_limit(void) {
  const rlim_t wanted = 16384;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  struct rlimit raised = {wanted, limit.rlim_max > wanted ? limit.rlim_max : wanted};
  // Only a privileged process may raise the hard limit.
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}
