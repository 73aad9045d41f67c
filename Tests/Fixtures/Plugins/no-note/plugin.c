// A plugin that is correct, except that it has no note.
#include "../fixture.h"

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
