// Waits in activate until somebody opens the named pipe GATE for writing.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <unistd.h>

#include "../stage.h"

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  tell(instance, "waits", 1);
  close(open(GATE, O_RDONLY | O_CLOEXEC));
  return SLUICE_STATUS_OK;
}

static sluice_verdict pass(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = {.size = sizeof table, .on_request = pass, .on_response = pass};

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);
static const void *extension(const char *id) { return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL; }
static const sluice_plugin plugin = {FIXTURE_TABLE, .activate = activate, .extension = extension};
FIXTURE_ENTRY(&plugin)
