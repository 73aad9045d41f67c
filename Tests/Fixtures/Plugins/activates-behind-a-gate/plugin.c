// Waits in activate until the named pipe GATE is opened for writing.
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

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = pass, .on_response = pass);

static const void *extension(const char *id) { return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL; }
FIXTURE_PLUGIN(FIXTURE_LIFE, .activate = activate, .extension = extension);
