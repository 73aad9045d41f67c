// Never returns from its constructor. With SPIN=1 it uses all processor time.
#define _DEFAULT_SOURCE
#include <unistd.h>

#include "../fixture.h"

#ifndef SPIN
#define SPIN 0
#endif

__attribute__((constructor)) static void hang(void) {
  for (;;) {
    if (!SPIN) pause();
  }
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
