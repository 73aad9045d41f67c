// Which libraries have got a copy of the functions in looked_up.c.
#ifndef SLUICE_ATTACH_LOOKED_UP_OWNERS_H
#define SLUICE_ATTACH_LOOKED_UP_OWNERS_H
#include "libcurl.h"

#include <link.h>

/// Expands a macro for the number of each copy. The functions of a copy are in the section `looked_up_NUMBER`.
#define LOOKED_UP_COPIES(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)

/// The number of the copy of a library, which gets one if it has none; -1 if none is left, or if memory ran out. The
/// first call for a library keeps it loaded. From any thread.
int looked_up_copy_of(const struct link_map *library);

/// The libcurl for which a function was looked up; NULL if the return address `caller` is not in one of the copies.
const struct libcurl *looked_up_at(const void *caller);

#endif
