#ifndef SLUICE_ATTACH_INTERPOSED_H
#define SLUICE_ATTACH_INTERPOSED_H

/// The function of this library that takes the place of libcurl's function with that name; NULL if there is none.
void *interposed_function(const char *name);

#endif
