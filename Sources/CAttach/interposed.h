#ifndef SLUICE_ATTACH_INTERPOSED_H
#define SLUICE_ATTACH_INTERPOSED_H

/// The function of this library that takes the place of one of libcurl; NULL for any other name.
void *interposed_function(const char *name);

#endif
