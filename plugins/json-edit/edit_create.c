#include <stdlib.h>

#include "edit.h"

/// The place of an operation in the configuration, for messages.
typedef struct place {
  const char *side;
  size_t index;
  sluice_error *error;
} place;

#define REFUSE(at, format, ...) \
  sluice_error_set((at)->error, "\"%s\"[%zu]" format, (at)->side, (at)->index, __VA_ARGS__)

static sluice_status no_memory(const place *at) {
  sluice_error_set(at->error, "out of memory");
  return SLUICE_STATUS_NO_MEMORY;
}

static sluice_status copy_string(const json_t *string, char **copy, const place *at) {
  size_t size = json_string_length(string) + 1;
  *copy = malloc(size);
  if (!*copy) return no_memory(at);
  memcpy(*copy, json_string_value(string), size);
  return SLUICE_STATUS_OK;
}

static sluice_status read_operation(body_edit *edit, const json_t *operation, const place *at) {
  const char *name = json_string_value(json_object_get(operation, "op"));
  for (int i = EDIT_SET; name && i <= EDIT_RENAME; i++) {
    if (strcmp(name, edit_name((edit_operation)i)) != 0) continue;
    edit->operation = (edit_operation)i;
    return SLUICE_STATUS_OK;
  }
  return REFUSE(at, ".\"op\": expected %s", "\"set\", \"remove\" or \"rename\"");
}

static sluice_status read_path(body_edit *edit, const json_t *operation, const place *at) {
  const json_t *path = json_object_get(operation, "path");
  if (!json_is_string(path)) return REFUSE(at, ".\"path\": expected %s", "a JSON Pointer like \"/items/0/name\"");
  sluice_status status = copy_string(path, &edit->text, at);
  if (status != SLUICE_STATUS_OK) return status;
  switch (json_pointer_parse(&edit->path, edit->text)) {
    case POINTER_OK: break;
    case POINTER_NO_MEMORY: return no_memory(at);
    case POINTER_MALFORMED:
      return REFUSE(
          at, ".\"path\": \"%.64s\" is not a JSON Pointer (RFC 6901): begin with /, write ~ as ~0 and / in a name as ~1",
          edit->text);
  }
  if (edit->path.count > 0 || edit->operation == EDIT_SET) return SLUICE_STATUS_OK;
  return REFUSE(at, ".\"path\": the whole body cannot be %sd", edit->operation == EDIT_REMOVE ? "remove" : "rename");
}

static sluice_status read_flag(bool *flag, const json_t *operation, const char *key, const place *at) {
  const json_t *value = json_object_get(operation, key);
  if (value && !json_is_boolean(value)) return REFUSE(at, ".\"%s\": expected true or false", key);
  *flag = json_is_true(value);
  return SLUICE_STATUS_OK;
}

static sluice_status read_flags(body_edit *edit, const json_t *operation, const place *at) {
  sluice_status status = read_flag(&edit->is_required, operation, "required", at);
  if (status == SLUICE_STATUS_OK) status = read_flag(&edit->creates, operation, "create", at);
  if (status != SLUICE_STATUS_OK || !edit->creates || edit->operation == EDIT_SET) return status;
  return REFUSE(at, ".\"create\": only \"set\" can create missing places, \"%s\" cannot", edit_name(edit->operation));
}

static sluice_status read_value(body_edit *edit, const json_t *operation, const place *at) {
  json_t *value = json_object_get(operation, "value");
  if (!value) return REFUSE(at, ".\"value\": missing; %s", "give the value that \"set\" puts there; it can be null");
  edit->value = json_deep_copy(value);
  return edit->value ? SLUICE_STATUS_OK : no_memory(at);
}

static sluice_status read_new_name(body_edit *edit, const json_t *operation, const place *at) {
  const json_t *to = json_object_get(operation, "to");
  if (!json_is_string(to)) return REFUSE(at, ".\"to\": expected %s", "the new name of the member, not a pointer");
  return copy_string(to, &edit->to, at);
}

sluice_status edit_create(
    body_edit *edit, const json_t *operation, const char *side, size_t index, sluice_error *error) {
  const place at = {side, index, error};
  if (!json_is_object(operation)) {
    return REFUSE(&at, ": expected %s", "an operation like {\"op\": \"remove\", \"path\": \"/a\"}");
  }
  sluice_status status = read_operation(edit, operation, &at);
  if (status == SLUICE_STATUS_OK) status = read_path(edit, operation, &at);
  if (status == SLUICE_STATUS_OK) status = read_flags(edit, operation, &at);
  if (status == SLUICE_STATUS_OK && edit->operation == EDIT_SET) status = read_value(edit, operation, &at);
  if (status == SLUICE_STATUS_OK && edit->operation == EDIT_RENAME) status = read_new_name(edit, operation, &at);
  return status;
}
