// A plugin in C++ with each kind of declaration, and nothing that runs when it is loaded.
#include <sluice/sluice.h>

namespace {

sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  sluice_context context = SLUICE_SIZED(sluice_context);
  const sluice_host *host = static_cast<const sluice_host *>(instance);
  if (host->exchange->context(exchange, &context) != SLUICE_STATUS_OK) return SLUICE_VERDICT_CONTINUE;
  return context.attempt == 0 ? host->exchange->retry(exchange, 0) : SLUICE_VERDICT_CONTINUE;
}

const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, on_request));
const sluice_tracer tracer = SLUICE_TABLE(sluice_tracer, SLUICE_SET(on_event, [](void *, const sluice_event *) {}));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_TRACER_ID, &tracer});

}  // namespace

SLUICE_REQUIRES(retry);
SLUICE_REQUIRES(request_body);
SLUICE_PLUGIN("declared-in-cxx", "1.0.0-rc.1",
              SLUICE_SET(summary, "A fixture."),
              SLUICE_UNCONFIGURED,
              SLUICE_SET(extension, extension));
