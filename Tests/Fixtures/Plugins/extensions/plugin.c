// Has a table without a required member, and lacks another table.
#include "../fixture.h"

static const sluice_body body = SLUICE_TABLE(sluice_body, .sides = SLUICE_BODY_SIDE_RESPONSE);

static const void *extension(const char *id) { return strcmp(id, SLUICE_BODY_ID) == 0 ? &body : NULL; }

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
