/// One change to a JSON body.
#ifndef JSON_EDIT_EDIT_H
#define JSON_EDIT_EDIT_H

#include <sluice/sluice.h>

#include "json_pointer.h"

#pragma GCC visibility push(hidden)

typedef enum edit_operation { EDIT_SET, EDIT_REMOVE, EDIT_RENAME } edit_operation;

typedef struct body_edit {
  edit_operation operation;
  json_pointer path;
  /// The path as it was written, for messages.
  char *text;
  /// The new name of a renamed member.
  char *to;
  /// The value to set. Only copies of this value go into bodies.
  json_t *value;
  /// Missing objects and arrays on the path are created.
  bool creates;
  /// A missing place is an error.
  bool is_required;
} body_edit;

typedef enum edit_result { EDIT_DONE, EDIT_MISSING, EDIT_NO_MEMORY } edit_result;

/// Reads one operation; `side` and `index` are for messages. The caller must set the edit to zero before, and must
/// destroy it even if this function fails. [control]
sluice_status edit_create(
    body_edit *edit, const json_t *operation, const char *side, size_t index, sluice_error *error);
/// [control]
void edit_destroy(body_edit *edit);
/// Changes the parsed JSON of a body in place: the member `json` of `body`. [any]
edit_result edit_apply(const body_edit *edit, json_t *body);
/// `set`, `remove` or `rename`. [any]
const char *edit_name(edit_operation operation);

#pragma GCC visibility pop

#endif
