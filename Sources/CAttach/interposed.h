#ifndef SLUICE_ATTACH_INTERPOSED_H
#define SLUICE_ATTACH_INTERPOSED_H

/// The function of this library that takes the place of libcurl's function with that name; NULL if no function does.
void *interposed_function(const char *name);

#endif
