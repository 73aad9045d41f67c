#ifndef SLUICE_ATTACH_INTERPOSED_H
#define SLUICE_ATTACH_INTERPOSED_H

/// Returns this library's own definition of a function of libcurl with that name, or NULL if it has none.
void *interposed_function(const char *name);

#endif
