// Forks in each call of a stage, as a plugin that runs a helper program does, and waits for the child.
#include <sluice/sluice.h>
#include <sys/wait.h>
#include <unistd.h>

static sluice_verdict fork_and_wait(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = (const sluice_host *)instance;
  const pid_t child = fork();
  if (child == 0) _exit(7);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  const char *result = WIFEXITED(status) && WEXITSTATUS(status) == 7 ? "forked" : "failed";
  if (sluice_set_request_header(host, exchange, "x-child", result) == SLUICE_STATUS_OK) return SLUICE_VERDICT_CONTINUE;
  return sluice_fail(host, exchange, "fork", "the host refused x-child");
}

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, fork_and_wait), SLUICE_SET(on_issue, fork_and_wait));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
SLUICE_PLUGIN("forks-in-stages", "1.0.0", SLUICE_SET(summary, "A fixture."), SLUICE_UNCONFIGURED, SLUICE_SET(extension, extension));
