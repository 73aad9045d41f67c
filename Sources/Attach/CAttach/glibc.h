// The loader's functions as glibc defines them. Programs and other preloaded libraries define functions with the same
// names, as this library does.
#ifndef SLUICE_ATTACH_GLIBC_H
#define SLUICE_ATTACH_GLIBC_H
#include <stdbool.h>

typedef void *(*symbol_function)(void *handle, const char *name);
typedef void *(*version_function)(void *handle, const char *name, const char *version);

/// The functions themselves. RTLD_NEXT and RTLD_DEFAULT mean those of the code that calls them.
symbol_function glibc_symbol_function(void);
version_function glibc_version_function(void);

/// Whether a function is the one of that name in glibc, and no library between this one and glibc defines another one.
bool glibc_comes_next(const void *function, const char *name);

/// The function of that name which comes after the one of this library, or NULL. It is looked up once, and kept in
/// `known`.
void *glibc_next_function(_Atomic(void *) *known, const char *name);

/// dlsym and dlvsym with this library as the caller.
void *glibc_dlsym(void *handle, const char *name);
void *glibc_dlvsym(void *handle, const char *name, const char *version);

#endif
