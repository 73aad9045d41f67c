// Opens files until there are no descriptors left, or 100,000 are open.
#include <fcntl.h>

#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

__attribute__((constructor)) static void open_files(void) {
  for (int count = 0; count < 100000 && open("/dev/null", O_RDONLY) >= 0;) count++;
}

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
