// In activate, executes the statement ACTIVATE, such as abort() or exit(0).
#include <stdlib.h>

#include "../fixture.h"

static sluice_status activate(void *instance, sluice_error *error) {
  (void)instance, (void)error;
  ACTIVATE;
  return SLUICE_STATUS_OK;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .activate = activate, .extension = fixture_no_extension);
