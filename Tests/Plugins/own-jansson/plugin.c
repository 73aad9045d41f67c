// Defines functions of jansson, as a library does that was linked with libjansson.a.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

LINKAGE int json_object_set_new(json_t *object, const char *key, json_t *value) {
  (void)object, (void)key, (void)value;
  return -1;
}

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
