// A file without a name. In C because the Glibc module omits what needs _GNU_SOURCE.
#ifndef SLUICE_UNNAMED_FILE_H
#define SLUICE_UNNAMED_FILE_H

/// Creates a file in the folder without a name, readable and writable only by its owner. Returns its descriptor, or -1 with
/// errno; not every file system supports this.
int sluice_open_unnamed(const char *folder);

#endif
