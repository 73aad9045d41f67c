// The entry point exists, but is not exported.
#include <sluice/note.h>
SLUICE_PLUGIN_NOTE("1.0.0");

__attribute__((visibility("hidden"), used)) const void *sluice_plugin_entry(void) {
  return 0;
}
