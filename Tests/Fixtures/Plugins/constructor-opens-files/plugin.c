// Opens files until there are no descriptors left, or 100,000 are open.
#include <fcntl.h>

#include "../fixture.h"

__attribute__((constructor)) static void open_files(void) {
  for (int count = 0; count < 100000 && open("/dev/null", O_RDONLY) >= 0;) count++;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
