// jansson, with the wrappers that Swift needs: Swift cannot call function-like macros, and it cannot distinguish the
// function `json_error_code` from the enumeration of the same name.
#ifndef SLUICE_CJANSSON_SHIM_H
#define SLUICE_CJANSSON_SHIM_H

#include <jansson.h>

/// The reason of a failed parse as a plain number, one of `enum json_error_code`.
static inline int sluice_json_error_code(const json_error_t *error) { return (int)json_error_code(error); }

/// The error text of a failed parse, NUL-terminated.
static inline const char *sluice_json_error_text(const json_error_t *error) { return error->text; }

/// The reference count: 1 means that only the caller can reach the value.
static inline size_t sluice_json_references(const json_t *json) {
  return __atomic_load_n(&json->refcount, __ATOMIC_ACQUIRE);
}

/// A function for the macro `json_boolean`.
static inline json_t *sluice_json_boolean(int value) { return value ? json_true() : json_false(); }

#endif
