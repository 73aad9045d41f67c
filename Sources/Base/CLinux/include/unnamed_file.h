// Files without a name. In C because the Glibc module omits functions that need _GNU_SOURCE.
#ifndef SLUICE_UNNAMED_FILE_H
#define SLUICE_UNNAMED_FILE_H

/// Creates a file without a name in the folder, readable and writable only by its owner. Returns its descriptor, or -1
/// with errno; not every file system supports such files.
int sluice_open_unnamed(const char *folder);

#endif
