// Kills the parent of its process while it is loaded.
#define _DEFAULT_SOURCE
#include <signal.h>
#include <unistd.h>

#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

__attribute__((constructor)) static void kill_parent(void) {
  kill(getppid(), SIGKILL);
  pause();
}

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
