#include "stub_host.h"

static bool is_field(const stub_field *field, sluice_text name) {
  return sluice_text_equals_ignoring_case(sluice_text_make(field->name), name);
}

static stub_field *find(sluice_exchange *exchange, sluice_side side, sluice_text name) {
  for (size_t i = 0; i < exchange->count[side]; i++) {
    if (is_field(&exchange->fields[side][i], name)) return &exchange->fields[side][i];
  }
  return NULL;
}

static sluice_status header_get(sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text *value) {
  const stub_field *field = find(exchange, side, name);
  if (!field) return SLUICE_STATUS_ABSENT;
  *value = sluice_text_make(field->value);
  return SLUICE_STATUS_OK;
}

static sluice_status header_add(sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value) {
  if (exchange->refusal != SLUICE_STATUS_OK) return exchange->refusal;
  if (!sluice_is_token(name) || !sluice_is_field_value(value)) return SLUICE_STATUS_INVALID;
  if (sluice_is_hop_by_hop(name)) return SLUICE_STATUS_REFUSED;
  if (exchange->count[side] == STUB_FIELDS) return SLUICE_STATUS_LIMIT;
  stub_field *field = &exchange->fields[side][exchange->count[side]++];
  snprintf(field->name, sizeof field->name, "%.*s", (int)name.size, name.data);
  snprintf(field->value, sizeof field->value, "%.*s", (int)value.size, value.data);
  field->marks = 0;
  return SLUICE_STATUS_OK;
}

static sluice_status header_remove(sluice_exchange *exchange, sluice_side side, sluice_text name) {
  size_t kept = 0, count = exchange->count[side];
  for (size_t i = 0; i < count; i++) {
    if (is_field(&exchange->fields[side][i], name)) continue;
    exchange->fields[side][kept++] = exchange->fields[side][i];
  }
  exchange->count[side] = kept;
  return kept == count ? SLUICE_STATUS_ABSENT : SLUICE_STATUS_OK;
}

static sluice_status header_set(sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value) {
  if (exchange->refusal != SLUICE_STATUS_OK) return exchange->refusal;
  header_remove(exchange, side, name);
  return header_add(exchange, side, name, value);
}

static sluice_status header_mark(sluice_exchange *exchange, sluice_side side, sluice_text name, uint32_t marks) {
  stub_field *field = find(exchange, side, name);
  if (exchange->mark_refusal != SLUICE_STATUS_OK) return exchange->mark_refusal;
  if (!field) return SLUICE_STATUS_ABSENT;
  field->marks |= marks;
  return SLUICE_STATUS_OK;
}

static sluice_status url_get(sluice_exchange *exchange, sluice_text *url) {
  *url = sluice_text_make(exchange->url);
  return SLUICE_STATUS_OK;
}

/// With SLUICE_JSON_READ, the body is a copy, so that changes to it are lost.
static json_t *json(sluice_exchange *exchange, sluice_side side, uint32_t flags) {
  json_t *body = flags & SLUICE_JSON_BODY ? exchange->body[side] : NULL;
  json_decref(exchange->document[side]);
  exchange->document[side] = json_object();
  if (flags & SLUICE_JSON_WRITE) exchange->is_written[side] = true;
  if (body) {
    json_object_set_new(
        exchange->document[side], "body", flags & SLUICE_JSON_WRITE ? json_incref(body) : json_deep_copy(body));
  }
  return exchange->document[side];
}

static sluice_verdict fail(sluice_exchange *exchange, sluice_text code, sluice_text message) {
  snprintf(exchange->error_code, sizeof exchange->error_code, "%.*s", (int)code.size, code.data);
  snprintf(exchange->error_message, sizeof exchange->error_message, "%.*s", (int)message.size, message.data);
  return SLUICE_VERDICT_FAIL;
}

extern const sluice_exchange_api stub_exchange_api;
const sluice_exchange_api stub_exchange_api = {
    .size = sizeof stub_exchange_api,
    .header_get = header_get,
    .header_set = header_set,
    .header_add = header_add,
    .header_remove = header_remove,
    .header_mark = header_mark,
    .url_get = url_get,
    .json = json,
    .fail = fail,
};

void stub_begin(sluice_exchange *exchange, const char *url) {
  memset(exchange, 0, sizeof *exchange);
  snprintf(exchange->url, sizeof exchange->url, "%s", url);
}

void stub_end(sluice_exchange *exchange) {
  for (int side = 0; side < 2; side++) {
    json_decref(exchange->body[side]);
    json_decref(exchange->document[side]);
  }
}

void stub_set_body(sluice_exchange *exchange, sluice_side side, const char *text) {
  exchange->body[side] = json_loads(text, JSON_DECODE_ANY, NULL);
}

const char *stub_body(sluice_exchange *exchange, sluice_side side) {
  static char text[1024];
  size_t size = json_dumpb(
      json_object_get(exchange->body[side], "json"), text, sizeof text - 1,
      JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
  text[size < sizeof text ? size : 0] = '\0';
  return text;
}

void stub_add(sluice_exchange *exchange, sluice_side side, const char *name, const char *value) {
  header_add(exchange, side, sluice_text_make(name), sluice_text_make(value));
}

const char *stub_values(sluice_exchange *exchange, sluice_side side, const char *name) {
  static char joined[1024];
  size_t used = 0;
  for (size_t i = 0; i < exchange->count[side]; i++) {
    const stub_field *field = &exchange->fields[side][i];
    if (!is_field(field, sluice_text_make(name))) continue;
    used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", used ? "|" : "", field->value);
  }
  return find(exchange, side, sluice_text_make(name)) ? joined : NULL;
}

uint32_t stub_marks(sluice_exchange *exchange, sluice_side side, const char *name) {
  const stub_field *field = find(exchange, side, sluice_text_make(name));
  return field ? field->marks : 0;
}
