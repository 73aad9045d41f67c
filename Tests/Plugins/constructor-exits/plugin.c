// Ends the process while it is loaded.
#include <stdlib.h>

#include "../fixture.h"

__attribute__((constructor)) static void leave(void) { exit(42); }

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);
static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
