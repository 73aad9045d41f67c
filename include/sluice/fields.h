/// Functions that check names and values by the rules of `header_set`. With them, a plugin can refuse a bad
/// configuration in `create` instead of failing every request.
#ifndef SLUICE_FIELDS_H
#define SLUICE_FIELDS_H

#include <string.h>

#include <sluice/text.h>

/// Whether a text is a token (RFC 9110 §5.6.2), like the names of fields and methods. [any]
static inline int sluice_is_token(sluice_text text) {
  for (size_t i = 0; i < text.size; i++) {
    unsigned char c = (unsigned char)text.data[i];
    int is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    int is_digit = c >= '0' && c <= '9';
    if (!is_letter && !is_digit && (c == 0 || !strchr("!#$%&'*+-.^_`|~", c))) return 0;
  }
  return text.size > 0;
}

/// Whether a text can be the value of a field: no control character except a tab, no space at either end. [any]
static inline int sluice_is_field_value(sluice_text text) {
  for (size_t i = 0; i < text.size; i++) {
    unsigned char c = (unsigned char)text.data[i];
    int is_space = c == ' ' || c == '\t';
    if (is_space && (i == 0 || i + 1 == text.size)) return 0;
    if (!is_space && (c < 0x20 || c == 0x7f)) return 0;
  }
  return 1;
}

/// Whether two texts are equal, ignoring the case of ASCII letters. [any]
static inline int sluice_text_equals_ignoring_case(sluice_text a, sluice_text b) {
  if (a.size != b.size) return 0;
  for (size_t i = 0; i < a.size; i++) {
    unsigned char x = (unsigned char)a.data[i], y = (unsigned char)b.data[i];
    if (x >= 'A' && x <= 'Z') x = (unsigned char)(x + 32);
    if (y >= 'A' && y <= 'Z') y = (unsigned char)(y + 32);
    if (x != y) return 0;
  }
  return 1;
}

/// Whether a field is only for one connection, such as `connection` or `transfer-encoding` (RFC 9110 §7.6.1). No stage
/// may set such a field. [any]
static inline int sluice_is_hop_by_hop(sluice_text name) {
  static const char *const names[] = {
      "connection", "keep-alive",        "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
      "trailer",    "transfer-encoding", "upgrade"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    sluice_text known = {names[i], strlen(names[i])};
    if (sluice_text_equals_ignoring_case(name, known)) return 1;
  }
  return 0;
}

#endif
