#include <sluice/sluice.h>

static sluice_verdict on_request(void *host, sluice_exchange *exchange) {
  sluice_status status = sluice_set_request_header(host, exchange, "x-tenant", "blue");
  return status == SLUICE_STATUS_OK ? SLUICE_VERDICT_CONTINUE : sluice_fail(host, exchange, "tenant", "x-tenant was refused");
}

static const void *extension(const char *id) {
  static const sluice_interceptor table = {.size = sizeof table, .on_request = on_request};
  return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL;
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  *instance = (void *)(uintptr_t)host;  // nothing else to remember
  return (void)config, (void)error, SLUICE_STATUS_OK;
}

static void destroy(void *instance) { (void)instance; }

SLUICE_PLUGIN_NOTE(0, 1, 0, 0)
SLUICE_EXPORT const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) {
  static const sluice_plugin plugin = {sizeof plugin, SLUICE_ABI_VERSION, "tenant", "1.0.0", "Names the tenant", NULL,
                                       create, NULL, NULL, destroy, extension};
  return (void)host, (void)error, abi >= SLUICE_ABI_VERSION ? &plugin : NULL;
}
