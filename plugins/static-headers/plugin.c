/// Sets, adds or removes fixed headers on requests and responses.
#include <stdbool.h>
#include <stdlib.h>

#include <sluice/draft/stage.h>
#include <sluice/sluice.h>

/// What happens to a header that the message already has.
typedef enum mode { MODE_SET, MODE_ADD, MODE_DEFAULT } mode;

/// One header; without values it is removed. The texts point into the copy of the configuration.
typedef struct header_edit {
  sluice_text name;
  sluice_text *values;
  size_t count;
} header_edit;

typedef struct edit_list {
  header_edit *edits;
  size_t count;
} edit_list;

/// The parsed content of one configuration, which belongs either to the instance or to a place.
typedef struct header_set {
  json_t *config;
  mode mode;
  edit_list request;
  edit_list response;
} header_set;

typedef struct static_headers {
  const sluice_host *host;
  const sluice_places *places;
  header_set *own;
  /// Whether any place has its own configuration. If no place has one, calls do not ask the host for it.
  bool has_places;
} static_headers;

#define HEADER_MAP                                                                                   \
  "{\"type\": \"object\", \"additionalProperties\": {\"oneOf\": [{\"type\": [\"string\", \"null\"]}," \
  " {\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"string\"}}]}}"

static const char schema[] =
    "{\"$schema\": \"http://json-schema.org/draft-07/schema#\", \"type\": \"object\", \"additionalProperties\": false,"
    " \"properties\": {\"request\": " HEADER_MAP ", \"response\": " HEADER_MAP ","
    " \"mode\": {\"enum\": [\"set\", \"add\", \"default\"]}}}";

static sluice_status no_memory(sluice_error *error) {
  sluice_error_set(error, "out of memory");
  return SLUICE_STATUS_NO_MEMORY;
}

static sluice_text text_of(const json_t *string) {
  sluice_text text = {json_string_value(string), json_string_length(string)};
  return text;
}

static sluice_status check_name(const edit_list *list, const char *side, sluice_text name, sluice_error *error) {
  if (!sluice_is_token(name)) {
    return sluice_error_set(error, "\"%s\".\"%.64s\": not the name of a header (RFC 9110 5.1)", side, name.data);
  }
  if (sluice_is_hop_by_hop(name) || sluice_text_equals_ignoring_case(name, sluice_text_make("content-length"))) {
    return sluice_error_set(
        error, "\"%s\".\"%s\": belongs to the connection or frames the body; no stage can set it", side, name.data);
  }
  for (size_t i = 0; i < list->count; i++) {
    if (!sluice_text_equals_ignoring_case(list->edits[i].name, name)) continue;
    return sluice_error_set(
        error, "\"%s\".\"%s\": the header is listed twice; give its values as one array", side, name.data);
  }
  return SLUICE_STATUS_OK;
}

static sluice_status read_value(header_edit *edit, const char *side, const json_t *value, sluice_error *error) {
  if (!json_is_string(value)) {
    return sluice_error_set(
        error, "\"%s\".\"%s\": expected a string, an array of strings, or null to remove it", side, edit->name.data);
  }
  if (!sluice_is_field_value(text_of(value))) {
    return sluice_error_set(
        error, "\"%s\".\"%s\": the value holds a control character, or begins or ends with a space", side,
        edit->name.data);
  }
  edit->values[edit->count++] = text_of(value);
  return SLUICE_STATUS_OK;
}

static sluice_status read_values(header_edit *edit, const char *side, const json_t *value, sluice_error *error) {
  if (json_is_null(value)) return SLUICE_STATUS_OK;
  size_t count = json_is_array(value) ? json_array_size(value) : 1;
  if (count == 0) {
    return sluice_error_set(
        error, "\"%s\".\"%s\": the array is empty; use null to remove the header", side, edit->name.data);
  }
  edit->values = calloc(count, sizeof *edit->values);
  if (!edit->values) return no_memory(error);
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
    sluice_status status = read_value(edit, side, item, error);
    if (status != SLUICE_STATUS_OK) return status;
  }
  return SLUICE_STATUS_OK;
}

static sluice_status read_side(edit_list *list, json_t *config, const char *side, sluice_error *error) {
  json_t *headers = json_object_get(config, side);
  if (!headers) return SLUICE_STATUS_OK;
  if (!json_is_object(headers)) {
    return sluice_error_set(error, "\"%s\": expected an object of header names and values", side);
  }
  if (json_object_size(headers) == 0) return SLUICE_STATUS_OK;
  list->edits = calloc(json_object_size(headers), sizeof *list->edits);
  if (!list->edits) return no_memory(error);
  const char *key;
  json_t *value;
  json_object_foreach(headers, key, value) {
    sluice_text name = sluice_text_make(key);
    sluice_status status = check_name(list, side, name, error);
    if (status != SLUICE_STATUS_OK) return status;
    header_edit *edit = &list->edits[list->count++];
    edit->name = name;
    status = read_values(edit, side, value, error);
    if (status != SLUICE_STATUS_OK) return status;
  }
  return SLUICE_STATUS_OK;
}

static sluice_status read_mode(header_set *set, sluice_error *error) {
  static const char *const names[] = {"set", "add", "default"};
  const json_t *value = json_object_get(set->config, "mode");
  if (!value) return SLUICE_STATUS_OK;
  for (int i = 0; i < 3; i++) {
    if (!json_is_string(value) || !sluice_text_equals(text_of(value), names[i])) continue;
    set->mode = (mode)i;
    return SLUICE_STATUS_OK;
  }
  return sluice_error_set(error, "\"mode\": expected \"set\", \"add\" or \"default\"");
}

static void release_list(edit_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->edits[i].values);
  free(list->edits);
}

static void release_set(header_set *set) {
  if (!set) return;
  release_list(&set->request);
  release_list(&set->response);
  json_decref(set->config);
  free(set);
}

static sluice_status make_set(const json_t *config, header_set **result, sluice_error *error) {
  header_set *set = calloc(1, sizeof *set);
  if (!set) return no_memory(error);
  set->config = json_deep_copy(config);
  sluice_status status = set->config ? read_mode(set, error) : no_memory(error);
  if (status == SLUICE_STATUS_OK) status = read_side(&set->request, set->config, "request", error);
  if (status == SLUICE_STATUS_OK) status = read_side(&set->response, set->config, "response", error);
  if (status != SLUICE_STATUS_OK) {
    release_set(set);
    return status;
  }
  *result = set;
  return SLUICE_STATUS_OK;
}

static void destroy(void *instance) {
  static_headers *headers = instance;
  release_set(headers->own);
  free(headers);
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  static_headers *headers = calloc(1, sizeof *headers);
  if (!headers) return no_memory(error);
  headers->host = host;
  headers->places = host->extension(host, SLUICE_PLACES_ID);
  sluice_status status = make_set(config, &headers->own, error);
  if (status != SLUICE_STATUS_OK) {
    destroy(headers);
    return status;
  }
  *instance = headers;
  return SLUICE_STATUS_OK;
}

static sluice_status create_stage(void *instance, json_t *config, void **stage, sluice_error *error) {
  header_set *set = NULL;
  sluice_status status = make_set(config, &set, error);
  if (status != SLUICE_STATUS_OK) return status;
  ((static_headers *)instance)->has_places = true;
  *stage = set;
  return SLUICE_STATUS_OK;
}

static void destroy_stage(void *instance, void *stage) {
  (void)instance;
  release_set(stage);
}

static bool is_present(const sluice_exchange_api *api, sluice_exchange *exchange, sluice_side side, sluice_text name) {
  sluice_text value;
  return api->header_get(exchange, side, name, &value) == SLUICE_STATUS_OK;
}

static sluice_status apply_edit(
    const sluice_exchange_api *api, sluice_exchange *exchange, sluice_side side, mode how, const header_edit *edit) {
  if (edit->count == 0) {
    sluice_status status = api->header_remove(exchange, side, edit->name);
    return status == SLUICE_STATUS_ABSENT ? SLUICE_STATUS_OK : status;
  }
  if (how == MODE_DEFAULT && is_present(api, exchange, side, edit->name)) return SLUICE_STATUS_OK;
  for (size_t i = 0; i < edit->count; i++) {
    bool replaces = how == MODE_SET && i == 0;
    sluice_status status = (replaces ? api->header_set : api->header_add)(exchange, side, edit->name, edit->values[i]);
    if (status != SLUICE_STATUS_OK) return status;
  }
  return SLUICE_STATUS_OK;
}

/// Applies the headers of a set. Returns the name of the header that the host refused; NULL if it accepted all.
static const char *apply_set(
    const sluice_exchange_api *api, sluice_exchange *exchange, sluice_side side, const header_set *set) {
  const edit_list *list = side == SLUICE_SIDE_REQUEST ? &set->request : &set->response;
  for (size_t i = 0; i < list->count; i++) {
    if (apply_edit(api, exchange, side, set->mode, &list->edits[i]) != SLUICE_STATUS_OK) return list->edits[i].name.data;
  }
  return NULL;
}

/// Fails the transaction because the host has refused a header. This is not part of `apply`, because `apply` would then
/// need stack space for the message in each call.
static __attribute__((noinline)) sluice_verdict refuse(
    const static_headers *headers, sluice_exchange *exchange, const char *refused) {
  char message[256];
  snprintf(message, sizeof message, "static-headers: the host refused the header \"%s\"", refused);
  return sluice_fail(headers->host, exchange, "static_headers", message);
}

/// The object of the place that is called; NULL if that place has no configuration.
static const header_set *place_of(const static_headers *headers, sluice_exchange *exchange) {
  if (!headers->has_places || !SLUICE_HAS(headers->places, current)) return NULL;
  return headers->places->current(exchange);
}

/// Applies the headers of the instance and then those of the place, so that in mode `set` the headers of the place
/// replace those of the instance.
static sluice_verdict apply(const static_headers *headers, sluice_exchange *exchange, sluice_side side) {
  const sluice_exchange_api *api = headers->host->exchange;
  const header_set *place = place_of(headers, exchange);
  const char *refused = apply_set(api, exchange, side, headers->own);
  if (!refused && place) refused = apply_set(api, exchange, side, place);
  return refused ? refuse(headers, exchange, refused) : SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  return apply(instance, exchange, SLUICE_SIDE_REQUEST);
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  return apply(instance, exchange, SLUICE_SIDE_RESPONSE);
}

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor,
                 SLUICE_SET(on_request, on_request),
                 SLUICE_SET(on_issue, on_request),
                 SLUICE_SET(on_response, on_response));
static const sluice_stage stage =
    SLUICE_TABLE(sluice_stage,
                 SLUICE_SET(config_schema, schema),
                 SLUICE_SET(create_stage, create_stage),
                 SLUICE_SET(destroy_stage, destroy_stage));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_STAGE_ID, &stage});

SLUICE_PLUGIN("static-headers", "1.0.0",
              SLUICE_SET(summary, "Sets, adds or removes fixed headers"),
              SLUICE_SET(config_schema, schema),
              SLUICE_SET(create, create),
              SLUICE_SET(destroy, destroy),
              SLUICE_SET(extension, extension));
