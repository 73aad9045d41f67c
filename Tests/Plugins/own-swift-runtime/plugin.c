// Defines a function of Swift's runtime, as a library does that was linked with -static-stdlib.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

SLUICE_EXPORT void *swift_retain(void *object);
void *swift_retain(void *object) {
  return object;
}

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
