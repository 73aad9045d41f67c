// A table in which each build replaces one member by a bad value.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE("1.0.0");

static const sluice_plugin plugin = {
    .size = SIZE, .abi = ABI, .id = ID, .version = VERSION, .summary = SUMMARY, .create = CREATE,
    .destroy = fixture_destroy, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
