// In C because memfd_create and the seals of fcntl need _GNU_SOURCE.
#ifndef SLUICE_SEALED_FILE_H
#define SLUICE_SEALED_FILE_H
#include <stddef.h>

/// Creates a file in memory with these bytes, which cannot be changed afterwards. Programs that this process starts
/// later inherit the descriptor.
/// @return a descriptor, or -1 with errno
int sluice_open_sealed(const char *name, const void *bytes, size_t length);

#endif
