// Allocates memory and writes to it, until none is left.
#include <stdlib.h>
#include <string.h>

#include "../fixture.h"

__attribute__((constructor)) static void allocate(void) {
  for (;;) {
    // Only one page of each piece is written, because writing to every byte would use up the memory of the machine.
    const size_t size = (size_t)64 << 20;
    char *piece = malloc(size);
    if (!piece) abort();
    *(volatile char *)piece = 1;
  }
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
