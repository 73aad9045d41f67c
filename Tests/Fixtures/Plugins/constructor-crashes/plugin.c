// Prints a message and follows a null pointer while it is loaded.
#include <stdio.h>

#include "../fixture.h"

__attribute__((constructor)) static void crash(void) {
  fputs("fixture: about to crash\n", stderr);
  *(volatile int *)NULL = 1;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
