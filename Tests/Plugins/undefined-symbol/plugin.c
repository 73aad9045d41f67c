// Calls a function that nobody defines.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

extern void fixture_nobody_has_this(void);

static void destroy(void *instance) {
  (void)instance;
  fixture_nobody_has_this();
}

static const sluice_plugin plugin = {
    .size = sizeof(sluice_plugin), .abi = SLUICE_ABI_VERSION, .id = "fixture", .version = "1.0.0",
    .summary = "A fixture.", .create = fixture_create, .destroy = destroy, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
