// Writes 20 MB to both streams while it is loaded. With CRASH=1 it crashes afterwards.
#include <stdio.h>
#include <stdlib.h>

#include "../fixture.h"

__attribute__((constructor)) static void print(void) {
  for (int line = 0; line < 100000; line++) {
    fprintf(stdout, "%099d\n", line);
    fprintf(stderr, "%099d\n", line);
  }
#ifdef CRASH
  fputs("the last line\n", stderr);
  abort();
#endif
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
