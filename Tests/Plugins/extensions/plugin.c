// A table without a required member, and one that is not there.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

static const sluice_body body = {.size = sizeof body, .sides = SLUICE_BODY_SIDE_RESPONSE};

static const void *extension(const char *id) { return strcmp(id, SLUICE_BODY_ID) == 0 ? &body : NULL; }

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = extension};
FIXTURE_ENTRY(&plugin)
