#define _GNU_SOURCE
#include "unnamed_file.h"

#include <fcntl.h>

int sluice_open_unnamed(const char *folder) {
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}
