/// Places in a JSON value, written as in RFC 6901.
#ifndef JSON_EDIT_JSON_POINTER_H
#define JSON_EDIT_JSON_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#pragma GCC visibility push(hidden)

typedef struct json_pointer {
  /// The reference tokens, unescaped; no tokens mean the whole value.
  const char **tokens;
  size_t count;
  char *storage;
} json_pointer;

typedef enum json_pointer_result { POINTER_OK, POINTER_MALFORMED, POINTER_NO_MEMORY } json_pointer_result;

/// Parses the pointer once, so that following it later needs no allocation. Only a result with POINTER_OK must be
/// released.
json_pointer_result json_pointer_parse(json_pointer *pointer, const char *text);
void json_pointer_destroy(json_pointer *pointer);

/// The member or item of `value` that a token names, borrowed; NULL if it does not exist. `-` never names an existing
/// item.
json_t *json_pointer_member(json_t *value, const char *token);
/// Stores the position that a token names in an array into `*index`. Returns false unless the token is a number without
/// leading zeros that is less than `size`.
bool json_pointer_index(const char *token, size_t size, size_t *index);

#pragma GCC visibility pop

#endif
