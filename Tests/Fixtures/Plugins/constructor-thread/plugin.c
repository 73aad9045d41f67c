// The entry point refuses with a message that names the thread on which the constructor ran.
#define _GNU_SOURCE
#include <unistd.h>

#include "../fixture.h"

SLUICE_PLUGIN_NOTE("1.0.0");

static int constructed_on;

__attribute__((constructor)) static void construct(void) {
  constructed_on = gettid();
}

const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) {
  (void)host, (void)abi;
  sluice_error_set(error, "%s thread", constructed_on == gettid() ? "same" : "another");
  return NULL;
}
