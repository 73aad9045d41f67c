#include <sluice/sluice.h>

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = (const sluice_host *)instance;
  if (sluice_set_request_header(host, exchange, "x-tenant", "blue") == SLUICE_STATUS_OK) return SLUICE_VERDICT_CONTINUE;
  return sluice_fail(host, exchange, "tenant", "tenant: the host refused x-tenant");
}

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, on_request));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
SLUICE_PLUGIN("tenant", "1.0.0", SLUICE_SET(summary, "Names the tenant"), SLUICE_UNCONFIGURED, SLUICE_SET(extension, extension));
