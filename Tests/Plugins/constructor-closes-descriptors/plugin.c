// Closes every descriptor of the process while it is loaded.
#include <unistd.h>

#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

__attribute__((constructor)) static void close_all(void) {
  for (int descriptor = 0; descriptor < 1024; descriptor++) close(descriptor);
}

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
