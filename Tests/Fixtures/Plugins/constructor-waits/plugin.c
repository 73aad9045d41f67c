// Makes the file MARK while it is loaded, waits until that file is gone, and crashes. It imitates a library that is
// tried out when only its first part has been written.
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../fixture.h"

__attribute__((constructor)) static void wait_and_crash(void) {
  static const char file[] = MARK;
  close(open(file, O_WRONLY | O_CREAT, 0600));
  while (access(file, F_OK) == 0) usleep(1000);
  abort();
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = fixture_no_extension);
