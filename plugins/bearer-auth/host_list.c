#include "host_list.h"

#include <stdlib.h>

/// An authority without its userinfo; `port` is 0 where none is written.
typedef struct authority {
  sluice_text name;
  unsigned port;
} authority;

static sluice_text drop_first(sluice_text text, size_t count) {
  sluice_text rest = {text.data + count, text.size - count};
  return rest;
}

static bool is_empty(sluice_text text) { return text.size == 0; }

static bool ends_with(sluice_text text, sluice_text suffix) {
  return text.size > suffix.size &&
         sluice_text_equals_ignoring_case(drop_first(text, text.size - suffix.size), suffix);
}

/// Takes `http://` or `https://` off the front; false, and nothing taken, where neither stands there.
static bool take_scheme(sluice_text *text, sluice_text *scheme) {
  for (size_t size = 4; size <= 5 && text->size >= size + 3; size++) {
    sluice_text head = {text->data, size};
    if (memcmp(text->data + size, "://", 3) != 0) continue;
    if (!sluice_text_equals_ignoring_case(head, sluice_text_make(size == 4 ? "http" : "https"))) continue;
    *scheme = head;
    *text = drop_first(*text, size + 3);
    return true;
  }
  return false;
}

/// 1–65535, or 0 for anything else.
static unsigned parse_port(sluice_text text) {
  unsigned port = 0;
  if (text.size > 5) return 0;
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] < '0' || text.data[i] > '9') return 0;
    port = port * 10 + (unsigned)(text.data[i] - '0');
  }
  return port <= 65535 ? port : 0;
}

static bool is_host_name(sluice_text name) {
  if (is_empty(name)) return false;
  bool is_address = name.data[0] == '[';
  for (size_t i = 0; i < name.size; i++) {
    unsigned char c = (unsigned char)name.data[i];
    bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool is_allowed = is_address ? c == ':' || c == '.' || c == '[' || c == ']' : c == '-' || c == '.' || c == '_';
    if (!is_alphanumeric && !is_allowed) return false;
  }
  return true;
}

/// Splits `name`, `name:port`, `[address]` or `[address]:port`.
static bool split_authority(sluice_text text, authority *result) {
  size_t end = 0;
  if (text.size > 0 && text.data[0] == '[') {
    while (end < text.size && text.data[end] != ']') end++;
    if (end == text.size) return false;
    end++;
  } else {
    while (end < text.size && text.data[end] != ':') end++;
  }
  sluice_text port = drop_first(text, end);
  result->name.data = text.data;
  result->name.size = end;
  result->port = 0;
  if (is_empty(port)) return true;
  if (port.data[0] != ':') return false;
  if (port.size == 1) return true;
  result->port = parse_port(drop_first(port, 1));
  return result->port != 0;
}

static bool parse_rule(host_rule *rule, sluice_text text) {
  take_scheme(&text, &rule->scheme);
  if (sluice_text_equals(text, "*")) return true;
  if (text.size > 2 && memcmp(text.data, "*.", 2) == 0) {
    rule->is_suffix = true;
    text = drop_first(text, 1);
  }
  authority parts;
  if (!split_authority(text, &parts)) return false;
  sluice_text written = drop_first(text, parts.name.size);
  if (!is_empty(written) && parts.port == 0) return false;
  rule->name = parts.name;
  rule->port = parts.port;
  sluice_text labels = rule->is_suffix ? drop_first(parts.name, 1) : parts.name;
  return is_host_name(labels) && labels.data[0] != '.';
}

static sluice_status create_rule(host_rule *rule, const json_t *entry, size_t index, sluice_error *error) {
  size_t size = json_string_length(entry);
  if (!json_is_string(entry)) {
    return sluice_error_set(error, "\"hosts\"[%zu]: expected a string like \"api.example.com\"", index);
  }
  rule->storage = malloc(size + 1);
  if (!rule->storage) {
    sluice_error_set(error, "out of memory");
    return SLUICE_NO_MEMORY;
  }
  memcpy(rule->storage, json_string_value(entry), size + 1);
  sluice_text text = {rule->storage, size};
  if (!parse_rule(rule, text)) {
    return sluice_error_set(
        error, "\"hosts\"[%zu]: expected a host, *.suffix or *, with an optional https:// before and :port after it",
        index);
  }
  return SLUICE_OK;
}

sluice_status host_list_create(host_list *list, const json_t *hosts, sluice_error *error) {
  size_t count = json_array_size(hosts);
  list->rules = NULL;
  list->count = 0;
  if (count == 0) {
    return sluice_error_set(
        error, "\"hosts\": expected an array of at least one host that may get the token; \"*\" allows every host");
  }
  list->rules = calloc(count, sizeof *list->rules);
  if (!list->rules) {
    sluice_error_set(error, "out of memory");
    return SLUICE_NO_MEMORY;
  }
  list->count = count;
  for (size_t i = 0; i < count; i++) {
    sluice_status status = create_rule(&list->rules[i], json_array_get(hosts, i), i, error);
    if (status == SLUICE_OK) continue;
    host_list_destroy(list);
    return status;
  }
  return SLUICE_OK;
}

void host_list_destroy(host_list *list) {
  for (size_t i = 0; i < list->count; i++) free(list->rules[i].storage);
  free(list->rules);
  list->rules = NULL;
  list->count = 0;
}

static bool rule_allows(const host_rule *rule, sluice_text scheme, const authority *origin) {
  if (!is_empty(rule->scheme) && !sluice_text_equals_ignoring_case(rule->scheme, scheme)) return false;
  if (rule->port != 0 && rule->port != origin->port) return false;
  if (is_empty(rule->name)) return true;
  return rule->is_suffix ? ends_with(origin->name, rule->name)
                         : sluice_text_equals_ignoring_case(origin->name, rule->name);
}

bool host_list_allows(const host_list *list, sluice_text url) {
  sluice_text scheme;
  authority origin;
  if (!take_scheme(&url, &scheme)) return false;
  size_t end = 0, start = 0;
  // A backslash ends the authority for some parsers and not for others: such a URL gets nothing.
  for (; end < url.size && !memchr("/?#", url.data[end], 3); end++) {
    if (url.data[end] == '\\') return false;
    if (url.data[end] == '@') start = end + 1;
  }
  sluice_text text = {url.data + start, end - start};
  if (!split_authority(text, &origin) || !is_host_name(origin.name)) return false;
  if (origin.port == 0) origin.port = scheme.size == 5 ? 443 : 80;
  for (size_t i = 0; i < list->count; i++) {
    if (rule_allows(&list->rules[i], scheme, &origin)) return true;
  }
  return false;
}
