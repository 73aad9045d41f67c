// Executes ACTIVATE in activate: abort(), exit(0).
#include <stdlib.h>

#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

static sluice_status activate(void *instance, sluice_error *error) {
  (void)instance, (void)error;
  ACTIVATE;
  return SLUICE_STATUS_OK;
}

static const sluice_plugin plugin = {FIXTURE_TABLE, .activate = activate, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
