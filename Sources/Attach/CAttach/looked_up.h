// Functions for programs that look libcurl's functions up in a library that they have opened: with dlopen and dlsym, or
// with a foreign function interface, such as Python's ctypes.
//
// There are several copies of each function, and each library gets one copy of all of them. The calls of a copy thus
// tell which library was meant: the caller itself may be a part of the program that has nothing to do with libcurl.
#ifndef SLUICE_ATTACH_LOOKED_UP_H
#define SLUICE_ATTACH_LOOKED_UP_H
#include "libcurl.h"

#include <link.h>

/// The function that a program gets in place of the function `name` of a libcurl. The first call for a library keeps it
/// loaded. NULL if the program must get libcurl's own function: because this library does not define such a function, or
/// because no copy is left. From any thread.
void *looked_up_function(const struct link_map *library, const char *name);

#endif
