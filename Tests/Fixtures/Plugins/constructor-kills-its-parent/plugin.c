// Kills the parent of its process while it is loaded.
#define _DEFAULT_SOURCE
#include <signal.h>
#include <unistd.h>

#include "../fixture.h"

__attribute__((constructor)) static void kill_parent(void) {
  kill(getppid(), SIGKILL);
  pause();
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
