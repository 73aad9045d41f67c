#include "edit.h"

#include <stdlib.h>

/// The value in which the path's last token names a member or item; NULL if it is missing and must not be created.
static json_t *find_parent(const body_edit *edit, json_t *root, edit_result *result) {
  json_t *value = root;
  *result = EDIT_MISSING;
  for (size_t i = 0; i + 1 < edit->path.count; i++) {
    const char *token = edit->path.tokens[i];
    json_t *member = json_pointer_member(value, token);
    if (!member) {
      bool is_appended = json_is_array(value) && strcmp(token, "-") == 0;
      if (!edit->creates || !(json_is_object(value) || is_appended)) return NULL;
      member = strcmp(edit->path.tokens[i + 1], "-") == 0 ? json_array() : json_object();
      int failed = is_appended ? json_array_append_new(value, member) : json_object_set_new(value, token, member);
      if (failed) {
        *result = EDIT_NO_MEMORY;
        return NULL;
      }
    }
    value = member;
  }
  return value;
}

static edit_result set_in_array(json_t *array, const char *token, json_t *copy) {
  size_t index;
  if (strcmp(token, "-") == 0) return json_array_append_new(array, copy) ? EDIT_NO_MEMORY : EDIT_DONE;
  if (json_pointer_index(token, json_array_size(array), &index)) {
    return json_array_set_new(array, index, copy) ? EDIT_NO_MEMORY : EDIT_DONE;
  }
  json_decref(copy);
  return EDIT_MISSING;
}

static edit_result set_value(const body_edit *edit, json_t *parent, const char *token) {
  json_t *copy = json_deep_copy(edit->value);
  if (!copy) return EDIT_NO_MEMORY;
  if (json_is_object(parent)) return json_object_set_new(parent, token, copy) ? EDIT_NO_MEMORY : EDIT_DONE;
  if (json_is_array(parent)) return set_in_array(parent, token, copy);
  json_decref(copy);
  return EDIT_MISSING;
}

static edit_result remove_value(json_t *parent, const char *token) {
  size_t index;
  if (json_is_object(parent)) return json_object_del(parent, token) ? EDIT_MISSING : EDIT_DONE;
  if (!json_is_array(parent) || !json_pointer_index(token, json_array_size(parent), &index)) return EDIT_MISSING;
  return json_array_remove(parent, index) ? EDIT_MISSING : EDIT_DONE;
}

static edit_result rename_value(const body_edit *edit, json_t *parent, const char *token) {
  json_t *value = json_is_object(parent) ? json_object_get(parent, token) : NULL;
  if (!value) return EDIT_MISSING;
  if (strcmp(token, edit->to) == 0) return EDIT_DONE;
  if (json_object_set(parent, edit->to, value)) return EDIT_NO_MEMORY;
  json_object_del(parent, token);
  return EDIT_DONE;
}

edit_result edit_apply(const body_edit *edit, json_t *body) {
  if (edit->path.count == 0) return set_value(edit, body, "json");
  edit_result result;
  json_t *parent = find_parent(edit, json_object_get(body, "json"), &result);
  if (!parent) return result;
  const char *token = edit->path.tokens[edit->path.count - 1];
  switch (edit->operation) {
    case EDIT_SET: return set_value(edit, parent, token);
    case EDIT_REMOVE: return remove_value(parent, token);
    case EDIT_RENAME: return rename_value(edit, parent, token);
  }
  return EDIT_MISSING;
}

const char *edit_name(edit_operation operation) {
  static const char *const names[] = {"set", "remove", "rename"};
  return names[operation];
}

void edit_destroy(body_edit *edit) {
  json_pointer_destroy(&edit->path);
  free(edit->text);
  free(edit->to);
  json_decref(edit->value);
}
