#define _DEFAULT_SOURCE
#include "host_list.h"

#include <arpa/inet.h>
#include <stdlib.h>

/// An authority without its userinfo; `port` is 0 where none is written.
typedef struct authority {
  host_name host;
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

/// Letters, digits, hyphens and underscores, in labels that are not empty. A number at the end makes it no name: some
/// readers take `127.1` and `0x7f.1` for an address.
static bool is_name(sluice_text name) {
  size_t label = 0;
  for (size_t i = 0; i < name.size; i++) {
    unsigned char c = (unsigned char)name.data[i];
    bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == '.') {
      if (i == label) return false;
      label = i + 1;
    } else if (!is_alphanumeric && c != '-' && c != '_') {
      return false;
    }
  }
  sluice_text last = drop_first(name, label);
  if (is_empty(last)) return false;
  if (last.size > 1 && last.data[0] == '0' && (last.data[1] | 0x20) == 'x') return false;
  for (size_t i = 0; i < last.size; i++) {
    if (last.data[i] < '0' || last.data[i] > '9') return true;
  }
  return false;
}

/// Reads `name`, `d.d.d.d` or `[address]`. A zone is no part of an address.
static bool read_host(sluice_text text, host_name *host) {
  static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
  char address[INET6_ADDRSTRLEN];
  memset(host, 0, sizeof *host);
  if (is_empty(text)) return false;
  bool is_bracketed = text.data[0] == '[';
  if (is_bracketed) {
    text = drop_first(text, 1);
    text.size--;
  } else if (text.data[text.size - 1] == '.') {
    text.size--;
  }
  host->text = text;
  host->is_address = true;
  if (text.size < sizeof address && !memchr(text.data, 0, text.size)) {
    memcpy(address, text.data, text.size);
    address[text.size] = 0;
    if (is_bracketed) return inet_pton(AF_INET6, address, host->address) == 1;
    memcpy(host->address, mapped, sizeof mapped);
    if (inet_pton(AF_INET, address, host->address + sizeof mapped) == 1) return true;
  }
  host->is_address = false;
  return !is_bracketed && is_name(text);
}

/// Splits `host` or `host:port`.
static bool read_authority(sluice_text text, authority *result) {
  size_t end = 0;
  if (text.size > 0 && text.data[0] == '[') {
    while (end < text.size && text.data[end] != ']') end++;
    if (end == text.size) return false;
    end++;
  } else {
    while (end < text.size && text.data[end] != ':') end++;
  }
  sluice_text host = {text.data, end};
  sluice_text port = drop_first(text, end);
  result->port = 0;
  if (!read_host(host, &result->host)) return false;
  if (is_empty(port)) return true;
  if (port.data[0] != ':') return false;
  if (port.size == 1) return true;
  result->port = parse_port(drop_first(port, 1));
  return result->port != 0;
}

static bool parse_rule(host_rule *rule, sluice_text text) {
  take_scheme(&text, &rule->scheme);
  if (is_empty(text) || text.data[text.size - 1] == ':') return false;
  bool is_any = text.data[0] == '*' && (text.size == 1 || text.data[1] == ':');
  if (is_any && text.size == 1) return true;
  if (is_any) {
    rule->port = parse_port(drop_first(text, 2));
    return rule->port != 0;
  }
  rule->is_suffix = text.size > 2 && memcmp(text.data, "*.", 2) == 0;
  authority parts;
  if (!read_authority(rule->is_suffix ? drop_first(text, 2) : text, &parts)) return false;
  rule->host = parts.host;
  rule->port = parts.port;
  if (!rule->is_suffix) return true;
  // With the dot before it, which is in the text of the rule.
  rule->host.text.data--;
  rule->host.text.size++;
  return !parts.host.is_address;
}

static sluice_status create_rule(host_rule *rule, const json_t *entry, size_t index, sluice_error *error) {
  size_t size = json_string_length(entry);
  if (!json_is_string(entry)) {
    return sluice_error_set(error, "\"hosts\"[%zu]: expected a string like \"api.example.com\"", index);
  }
  rule->storage = malloc(size + 1);
  if (!rule->storage) {
    sluice_error_set(error, "out of memory");
    return SLUICE_STATUS_NO_MEMORY;
  }
  memcpy(rule->storage, json_string_value(entry), size + 1);
  sluice_text text = {rule->storage, size};
  if (!parse_rule(rule, text)) {
    return sluice_error_set(
        error,
        "\"hosts\"[%zu]: expected a host, *.suffix or *, with an optional https:// before and :port after it; write a name "
        "beyond ASCII in its xn-- form",
        index);
  }
  return SLUICE_STATUS_OK;
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
    return SLUICE_STATUS_NO_MEMORY;
  }
  list->count = count;
  for (size_t i = 0; i < count; i++) {
    sluice_status status = create_rule(&list->rules[i], json_array_get(hosts, i), i, error);
    if (status == SLUICE_STATUS_OK) continue;
    host_list_destroy(list);
    return status;
  }
  return SLUICE_STATUS_OK;
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
  if (is_empty(rule->host.text)) return true;
  if (rule->host.is_address != origin->host.is_address) return false;
  if (rule->host.is_address) return memcmp(rule->host.address, origin->host.address, sizeof rule->host.address) == 0;
  return rule->is_suffix ? ends_with(origin->host.text, rule->host.text)
                         : sluice_text_equals_ignoring_case(origin->host.text, rule->host.text);
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
  if (!read_authority(text, &origin)) return false;
  if (origin.port == 0) origin.port = scheme.size == 5 ? 443 : 80;
  for (size_t i = 0; i < list->count; i++) {
    if (rule_allows(&list->rules[i], scheme, &origin)) return true;
  }
  return false;
}
