// In C because memfd_create and the seals of fcntl need _GNU_SOURCE.
#ifndef SLUICE_SEALED_FILE_H
#define SLUICE_SEALED_FILE_H
#include <stdbool.h>
#include <stddef.h>

/// Creates a file in memory with these bytes, which cannot be changed afterwards.
/// @param is_inherited whether programs that this process starts later inherit the descriptor
/// @return a descriptor, or -1 with errno
int sluice_open_sealed(const char *name, const void *bytes, size_t length, bool is_inherited);

#endif
