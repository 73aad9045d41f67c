// Raises SIGUSR1 in its stage, as another thread of a program does whose memory is collected.
#include <signal.h>
#include <sluice/sluice.h>

static sluice_verdict raise_signal(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  raise(SIGUSR1);
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, raise_signal), SLUICE_SET(on_issue, raise_signal));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
SLUICE_PLUGIN("raises-signals", "1.0.0", SLUICE_SET(summary, "A fixture."), SLUICE_UNCONFIGURED, SLUICE_SET(extension, extension));
