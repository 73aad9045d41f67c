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
  /// As it was written, for messages.
  char *text;
  /// The new name of a renamed member.
  char *to;
  /// What is set; never handed out, only copies of it are.
  json_t *value;
  /// Objects and arrays on the way that are missing are made.
  bool creates;
  /// A place that is missing is an error.
  bool is_required;
} body_edit;

typedef enum edit_result { EDIT_DONE, EDIT_MISSING, EDIT_NO_MEMORY } edit_result;

/// Reads one operation; `side` and `index` are for messages. The edit is zero before, and to be destroyed also when
/// this fails. [control]
sluice_status edit_create(
    body_edit *edit, const json_t *operation, const char *side, size_t index, sluice_error *error);
/// [control]
void edit_destroy(body_edit *edit);
/// Changes `json` of a body member in place. [any]
edit_result edit_apply(const body_edit *edit, json_t *body);
/// `set`, `remove` or `rename`. [any]
const char *edit_name(edit_operation operation);

#pragma GCC visibility pop

#endif
