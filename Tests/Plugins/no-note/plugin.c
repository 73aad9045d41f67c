// Correct except for the note, which is missing.
#include "../fixture.h"

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
