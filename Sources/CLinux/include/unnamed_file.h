// A file without a name. Written in C because the Glibc module omits what needs _GNU_SOURCE.
#ifndef SLUICE_UNNAMED_FILE_H
#define SLUICE_UNNAMED_FILE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>

#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif

/// Creates a file in the folder without a name, readable and writable only by its owner. Returns its descriptor, or -1 with
/// errno; not every file system supports this.
static inline int sluice_open_unnamed(const char *folder) {
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

#endif
