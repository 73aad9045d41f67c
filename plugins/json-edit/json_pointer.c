#include "json_pointer.h"

#include <stdlib.h>
#include <string.h>

static size_t count_slashes(const char *text) {
  size_t count = 0;
  for (; *text; text++) count += *text == '/';
  return count;
}

/// Unescapes `text` up to the next slash or the end, and advances both pointers; false for a `~` without 0 or 1 after
/// it.
static bool unescape_token(const char **text, char **target) {
  for (; **text && **text != '/'; ++*text) {
    char c = **text;
    if (c == '~') {
      ++*text;
      if (**text != '0' && **text != '1') return false;
      c = **text == '0' ? '~' : '/';
    }
    *(*target)++ = c;
  }
  *(*target)++ = '\0';
  return true;
}

json_pointer_result json_pointer_parse(json_pointer *pointer, const char *text) {
  size_t count = count_slashes(text);
  memset(pointer, 0, sizeof *pointer);
  if (*text == '\0') return POINTER_OK;
  if (*text != '/') return POINTER_MALFORMED;
  pointer->tokens = calloc(count, sizeof *pointer->tokens);
  pointer->storage = malloc(strlen(text) + 1);
  if (!pointer->tokens || !pointer->storage) {
    json_pointer_destroy(pointer);
    return POINTER_NO_MEMORY;
  }
  char *target = pointer->storage;
  while (*text == '/') {
    text++;
    pointer->tokens[pointer->count++] = target;
    if (unescape_token(&text, &target)) continue;
    json_pointer_destroy(pointer);
    return POINTER_MALFORMED;
  }
  return POINTER_OK;
}

void json_pointer_destroy(json_pointer *pointer) {
  free(pointer->tokens);
  free(pointer->storage);
  memset(pointer, 0, sizeof *pointer);
}

bool json_pointer_index(const char *token, size_t size, size_t *index) {
  size_t value = 0;
  if (*token == '\0' || (token[0] == '0' && token[1] != '\0')) return false;
  for (; *token; token++) {
    if (*token < '0' || *token > '9') return false;
    value = value * 10 + (size_t)(*token - '0');
    if (value >= size) return false;
  }
  *index = value;
  return true;
}

json_t *json_pointer_member(json_t *value, const char *token) {
  size_t index;
  if (json_is_object(value)) return json_object_get(value, token);
  if (json_is_array(value) && json_pointer_index(token, json_array_size(value), &index)) {
    return json_array_get(value, index);
  }
  return NULL;
}
