// Follows a null pointer while it is loaded, after having said something.
#include <stdio.h>

#include "../fixture.h"

__attribute__((constructor)) static void crash(void) {
  fputs("fixture: about to crash\n", stderr);
  *(volatile int *)NULL = 1;
}

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);
static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
