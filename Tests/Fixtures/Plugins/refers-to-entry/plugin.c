// Does not define the entry point, but calls that of another library.
#include "../fixture.h"

SLUICE_PLUGIN_NOTE("1.0.0");

SLUICE_EXPORT const sluice_plugin *fixture_call(void);
const sluice_plugin *fixture_call(void) {
  return sluice_plugin_entry(NULL, 1, NULL);
}
