// Closes every descriptor of the process while it is loaded.
#include <unistd.h>

#include "../fixture.h"

__attribute__((constructor)) static void close_all(void) {
  for (int descriptor = 0; descriptor < 1024; descriptor++) close(descriptor);
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
