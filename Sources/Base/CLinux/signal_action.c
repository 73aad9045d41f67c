#define _GNU_SOURCE
#include "signal_action.h"

#include <signal.h>
#include <stddef.h>

static void do_nothing(int signal) { (void)signal; }

static int is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void sluice_survive_signal(int signal) {
  const struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigaction(signal, &action, NULL);
}

int sluice_keep_child_statuses(void) {
  if (!is_ignored(SIGCHLD)) return 0;
  const struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(SIGCHLD, &action, NULL);
  return 1;
}
