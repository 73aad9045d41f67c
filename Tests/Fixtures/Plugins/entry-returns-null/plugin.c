// Its entry point returns NULL, with MESSAGE as the reason.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE("1.0.0");

const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) {
  (void)host, (void)abi, (void)error;
#ifdef MESSAGE
  sluice_error_set(error, "%s", MESSAGE);
#endif
  return NULL;
}
