// Finds the function names behind the mangled symbols of Swift and C++. In C because Swift's runtime offers this only
// to C.
#ifndef SLUICE_CSYMBOLNAME_H
#define SLUICE_CSYMBOLNAME_H

/// Demangles the symbol of a Swift function with libswiftCore; the caller frees the result. NULL for any other symbol.
char *_Nullable sluice_demangle_swift(const char *_Nonnull symbol);

/// Demangles the symbol of a C++ function with the C++ runtime; the caller frees the result. NULL for any other symbol.
char *_Nullable sluice_demangle_cxx(const char *_Nonnull symbol);

#endif
