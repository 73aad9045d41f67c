// A library with a note but without an entry point.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE("1.0.0");

SLUICE_EXPORT int fixture_something(void);
int fixture_something(void) {
  return 1;
}
