/// Sets, removes and renames members of JSON bodies, in place on the live document.
#include <stdlib.h>

#include <sluice/sluice.h>

#include "edit.h"

typedef struct edit_list {
  body_edit *edits;
  size_t count;
} edit_list;

typedef struct json_edit {
  const sluice_host *host;
  edit_list request;
  edit_list response;
  /// A body of another media type fails the transaction.
  bool needs_json;
  /// A body of a JSON media type that cannot be parsed goes through unchanged.
  bool passes_unreadable;
} json_edit;

#define OPERATIONS                                                                               \
  "{\"type\": \"array\", \"items\": {\"type\": \"object\", \"additionalProperties\": false,"       \
  " \"required\": [\"op\", \"path\"], \"properties\": {"                                         \
  "  \"op\": {\"enum\": [\"set\", \"remove\", \"rename\"]}, \"path\": {\"type\": \"string\"},"   \
  "  \"value\": true, \"to\": {\"type\": \"string\"},"                                           \
  "  \"create\": {\"type\": \"boolean\"}, \"required\": {\"type\": \"boolean\"}}}}"

static const char schema[] =
    "{\"$schema\": \"http://json-schema.org/draft-07/schema#\", \"type\": \"object\", \"additionalProperties\": false,"
    " \"properties\": {\"request\": " OPERATIONS ", \"response\": " OPERATIONS ","
    " \"onNonJSON\": {\"enum\": [\"pass\", \"fail\"]},"
    " \"onUnreadable\": {\"enum\": [\"pass\", \"fail\"]}}}";

static sluice_status no_memory(sluice_error *error) {
  sluice_error_set(error, "out of memory");
  return SLUICE_STATUS_NO_MEMORY;
}

static sluice_status read_side(edit_list *list, const json_t *config, const char *side, sluice_error *error) {
  const json_t *operations = json_object_get(config, side);
  size_t count = json_array_size(operations);
  if (operations && !json_is_array(operations)) {
    return sluice_error_set(error, "\"%s\": expected an array of operations", side);
  }
  if (count == 0) return SLUICE_STATUS_OK;
  list->edits = calloc(count, sizeof *list->edits);
  if (!list->edits) return no_memory(error);
  for (size_t i = 0; i < count; i++) {
    sluice_status status = edit_create(&list->edits[list->count++], json_array_get(operations, i), side, i, error);
    if (status != SLUICE_STATUS_OK) return status;
  }
  return SLUICE_STATUS_OK;
}

/// Reads `pass` or `fail`; a missing key leaves `passes` unchanged.
static sluice_status read_policy(bool *passes, const json_t *config, const char *key, sluice_error *error) {
  const json_t *policy = json_object_get(config, key);
  const char *name = json_string_value(policy);
  if (!policy) return SLUICE_STATUS_OK;
  if (!name || (strcmp(name, "pass") != 0 && strcmp(name, "fail") != 0)) {
    return sluice_error_set(error, "\"%s\": expected \"pass\" or \"fail\"", key);
  }
  *passes = strcmp(name, "pass") == 0;
  return SLUICE_STATUS_OK;
}

static sluice_status read_policies(json_edit *editor, const json_t *config, sluice_error *error) {
  bool passes_other = true;
  sluice_status status = read_policy(&passes_other, config, "onNonJSON", error);
  editor->needs_json = !passes_other;
  return status == SLUICE_STATUS_OK ? read_policy(&editor->passes_unreadable, config, "onUnreadable", error) : status;
}

static void release_list(edit_list *list) {
  for (size_t i = 0; i < list->count; i++) edit_destroy(&list->edits[i]);
  free(list->edits);
}

static void destroy(void *instance) {
  json_edit *editor = instance;
  release_list(&editor->request);
  release_list(&editor->response);
  free(editor);
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  json_edit *editor = calloc(1, sizeof *editor);
  if (!editor) return no_memory(error);
  editor->host = host;
  sluice_status status = read_policies(editor, config, error);
  if (status == SLUICE_STATUS_OK) status = read_side(&editor->request, config, "request", error);
  if (status == SLUICE_STATUS_OK) status = read_side(&editor->response, config, "response", error);
  if (status != SLUICE_STATUS_OK) {
    destroy(editor);
    return status;
  }
  *instance = editor;
  return SLUICE_STATUS_OK;
}

static sluice_verdict fail_edit(
    const json_edit *editor, sluice_exchange *exchange, sluice_side side, size_t index, const body_edit *edit,
    edit_result result) {
  char message[256];
  snprintf(
      message, sizeof message, "json-edit: operation %zu of \"%s\", %s %.96s: %s", index,
      side == SLUICE_SIDE_REQUEST ? "request" : "response", edit_name(edit->operation), edit->text,
      result == EDIT_MISSING ? "the body has no such place" : "out of memory");
  return sluice_fail(editor->host, exchange, "json_edit", message);
}

static sluice_verdict apply_edits(
    const json_edit *editor, sluice_exchange *exchange, sluice_side side, const edit_list *list, json_t *body) {
  for (size_t i = 0; i < list->count; i++) {
    edit_result result = edit_apply(&list->edits[i], body);
    if (result == EDIT_DONE || (result == EDIT_MISSING && !list->edits[i].is_required)) continue;
    return fail_edit(editor, exchange, side, i, &list->edits[i], result);
  }
  return SLUICE_VERDICT_CONTINUE;
}

/// Fails the transaction unless the configuration lets unreadable bodies pass: they may contain members that must be
/// removed.
static sluice_verdict pass_unreadable(
    const json_edit *editor, sluice_exchange *exchange, sluice_side side, const char *reason) {
  char message[384];
  if (editor->passes_unreadable) return SLUICE_VERDICT_CONTINUE;
  snprintf(
      message, sizeof message,
      "json-edit: the %s body has a JSON media type and cannot be edited: %.160s; \"onUnreadable\": \"pass\" lets such"
      " bodies through unchanged",
      side == SLUICE_SIDE_REQUEST ? "request" : "response", reason);
  return sluice_fail(editor->host, exchange, "unreadable_json", message);
}

static sluice_verdict pass_other(
    const json_edit *editor, sluice_exchange *exchange, sluice_side side, const json_t *body) {
  const json_t *unreadable = json_object_get(body, "unreadable");
  if (unreadable) {
    const char *reason = json_string_value(unreadable);
    return pass_unreadable(editor, exchange, side, reason ? reason : "the host does not say why");
  }
  if (!editor->needs_json) return SLUICE_VERDICT_CONTINUE;
  return sluice_fail(editor->host, exchange, "not_json", "json-edit: the body does not have a JSON media type");
}

static sluice_verdict rewrite(
    const json_edit *editor, sluice_exchange *exchange, sluice_side side, const edit_list *list) {
  const sluice_exchange_api *api = editor->host->exchange;
  if (list->count == 0) return SLUICE_VERDICT_CONTINUE;
  // Get the document for reading first. A document that is opened for writing is serialized again, but a message that
  // is not changed must keep its bytes.
  json_t *view = api->json(exchange, side, SLUICE_JSON_READ | SLUICE_JSON_BODY);
  if (!view) return sluice_fail(editor->host, exchange, "json_edit", "json-edit: the host gave no document");
  json_t *body = json_object_get(view, "body");
  if (!body) return SLUICE_VERDICT_CONTINUE;
  if (!json_object_get(body, "json")) return pass_other(editor, exchange, side, body);
  json_t *document = api->json(exchange, side, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  body = json_object_get(document, "body");
  if (!body) return sluice_fail(editor->host, exchange, "json_edit", "json-edit: the document cannot be changed here");
  return apply_edits(editor, exchange, side, list, body);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const json_edit *editor = instance;
  return rewrite(editor, exchange, SLUICE_SIDE_REQUEST, &editor->request);
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const json_edit *editor = instance;
  return rewrite(editor, exchange, SLUICE_SIDE_RESPONSE, &editor->response);
}

/// All configurations share one table, so both bodies are wanted even if only one side is edited.
static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor,
                 SLUICE_SET(wants, SLUICE_WANTS_REQUEST_BODY | SLUICE_WANTS_RESPONSE_BODY),
                 SLUICE_SET(on_request, on_request),
                 SLUICE_SET(on_response, on_response));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});

SLUICE_REQUIRES(document);
SLUICE_REQUIRES(request_body);
SLUICE_REQUIRES(response_body);
SLUICE_PLUGIN("json-edit", "1.0.0",
              SLUICE_SET(summary, "Sets, removes and renames members of JSON bodies"),
              SLUICE_SET(config_schema, schema),
              SLUICE_SET(create, create),
              SLUICE_SET(destroy, destroy),
              SLUICE_SET(extension, extension));
