// The symbol of the entry point exists, but it is a variable.
#include <sluice/note.h>
SLUICE_PLUGIN_NOTE("1.0.0");

SLUICE_EXPORT int sluice_plugin_entry;
int sluice_plugin_entry = 1;
