/// A name with a typed value, for `sluice.log/1`, `sluice.attributes/1` and `sluice.spans/1`.
///
/// A draft: the structure may still change.
#ifndef SLUICE_DRAFT_ATTRIBUTE_H
#define SLUICE_DRAFT_ATTRIBUTE_H

#include <stdint.h>
#include <string.h>

#include <sluice/text.h>

typedef uint32_t sluice_attribute_kind;
enum {
  SLUICE_ATTRIBUTE_TEXT = 1,
  SLUICE_ATTRIBUTE_INTEGER = 2,
  /// A finite number.
  SLUICE_ATTRIBUTE_NUMBER = 3,
  /// `integer` is 0 or 1.
  SLUICE_ATTRIBUTE_BOOL = 4
};

/// Flags of an attribute; other bits must be 0.
enum {
  /// A secret: shown as `REDACTED` in logs, results, event logs and exports. Stages and tracers can read it.
  SLUICE_ATTRIBUTE_SENSITIVE = 1
};

/// The limits of a host: bytes of a name, bytes of a text, and attributes of one record or transaction.
#define SLUICE_ATTRIBUTE_NAME_BYTES 128u
#define SLUICE_ATTRIBUTE_TEXT_BYTES 4096u
#define SLUICE_ATTRIBUTE_COUNT 64u

/// One attribute. Of `integer`, `number` and `text`, only the member that `kind` selects is read; the others are
/// ignored. The structure never grows.
typedef struct sluice_attribute {
  /// 1 to 128 of the characters `A-Z a-z 0-9 . _ -`, the first of them a letter: `http.route`.
  sluice_text name;
  sluice_attribute_kind kind;
  uint32_t flags;
  int64_t integer;
  double number;
  /// UTF-8.
  sluice_text text;
} sluice_attribute;

/// An attribute with a text. Borrows the name and the text. [any]
static inline sluice_attribute sluice_attribute_text(const char *name, sluice_text value) {
  sluice_attribute attribute = {{name, strlen(name)}, SLUICE_ATTRIBUTE_TEXT, 0, 0, 0, {NULL, 0}};
  attribute.text = value;
  return attribute;
}

/// An attribute with an integer. Borrows the name. [any]
static inline sluice_attribute sluice_attribute_integer(const char *name, int64_t value) {
  sluice_attribute attribute = {{name, strlen(name)}, SLUICE_ATTRIBUTE_INTEGER, 0, 0, 0, {NULL, 0}};
  attribute.integer = value;
  return attribute;
}

/// An attribute with a finite number. Borrows the name. [any]
static inline sluice_attribute sluice_attribute_number(const char *name, double value) {
  sluice_attribute attribute = {{name, strlen(name)}, SLUICE_ATTRIBUTE_NUMBER, 0, 0, 0, {NULL, 0}};
  attribute.number = value;
  return attribute;
}

/// An attribute that is true or false. Borrows the name. [any]
static inline sluice_attribute sluice_attribute_bool(const char *name, int value) {
  sluice_attribute attribute = {{name, strlen(name)}, SLUICE_ATTRIBUTE_BOOL, 0, 0, 0, {NULL, 0}};
  attribute.integer = value != 0;
  return attribute;
}

#endif
