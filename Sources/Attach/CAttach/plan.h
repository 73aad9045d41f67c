#ifndef SLUICE_ATTACH_PLAN_H
#define SLUICE_ATTACH_PLAN_H
#include <stddef.h>
#include <stdint.h>

/// Reads a plan: from the inherited descriptor if it still contains this plan, otherwise from the folder of the
/// command.
///
/// @return the bytes after the first line, to be released with free(); NULL if there is no such plan
char *plan_read(uint64_t number, int descriptor, const char *folder, size_t *length);

#endif
