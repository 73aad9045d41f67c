// Ends the process while it is loaded.
#include <stdlib.h>

#include "../fixture.h"

__attribute__((constructor)) static void leave(void) { exit(42); }

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
