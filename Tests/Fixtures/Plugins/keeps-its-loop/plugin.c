// Blocks the loop in on_request until the named pipe GATE is opened for writing. This is against the rules.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <unistd.h>

#include "../stage.h"

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  tell(instance, "kept", 1);
  close(open(GATE, O_RDONLY | O_CLOEXEC));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
