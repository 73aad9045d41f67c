// A file without a name. In C because the Glibc module leaves out what needs _GNU_SOURCE.
#ifndef SLUICE_UNNAMED_FILE_H
#define SLUICE_UNNAMED_FILE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>

#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif

/// Makes a file in the folder that has no name there, readable and writable by its owner alone. Returns its descriptor, or -1
/// with errno set: not every file system can.
static inline int sluice_open_unnamed(const char *folder) {
  return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

#endif
