/// JSON Schema draft-07 over jansson values: valijson's parser behind three C functions.
///
/// What is checked is the draft's required vocabulary. `format`, `contentEncoding` and `contentMediaType` are
/// annotations and never refuse a value. Numbers compare by value: 1 and 1.0 are equal, and 1.0 is an integer.
///
/// `$ref` reaches the schema itself, the documents given with it and `http://json-schema.org/draft-07/schema#`.
/// Nothing is ever fetched.
#ifndef SLUICE_JSON_SCHEMA_H
#define SLUICE_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/// Limits that keep a hostile schema or value from exhausting the stack or the clock. Reaching one is a violation
/// or a refused schema with a message that names it.
enum {
  /// Subschemas applied inside one another, which bounds the nesting of a checked value as well.
  SLUICE_SCHEMA_DEPTH_LIMIT = 1000,
  /// Subschemas nested in the text of a schema.
  SLUICE_SCHEMA_NESTING_LIMIT = 200,
  /// Subschemas applied in one check altogether.
  SLUICE_SCHEMA_STEP_LIMIT = 20000000,
  /// Bytes of a regular expression. Back-references and `\p{…}` are refused.
  SLUICE_SCHEMA_PATTERN_LIMIT_BYTES = 2048,
  /// Bytes of a string or key that is matched with a regular expression.
  SLUICE_SCHEMA_MATCHED_LIMIT_BYTES = 262144,
  /// Violations reported by one check; more are not looked for.
  SLUICE_SCHEMA_REPORT_LIMIT = 8,
};

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled schema: immutable, so that any number of threads may check with it at the same time.
typedef struct sluice_schema sluice_schema;

/// Receives one violation: the JSON Pointer (RFC 6901) of the offending value, or of the offending key, and what was
/// expected there. Both strings live until the function returns. It must not throw or jump out.
typedef void (*sluice_schema_report)(void *context, const char *pointer, const char *message);

/// Compiles `schema`, which is copied and may be changed or released afterwards.
///
/// `documents` is NULL or an object that maps absolute URIs to further schemas that `$ref` may name. On failure the
/// result is NULL and `message` holds a terminated text, cut at `size` bytes. Free with `sluice_schema_free`. [any]
sluice_schema *sluice_schema_compile(const json_t *schema, const json_t *documents, char *message, size_t size);

/// Whether `value` satisfies the schema. Where it does not, `report` (unless NULL) is called for the first violations
/// in the order of the schema's keywords. `value` must not be changed meanwhile. [any]
bool sluice_schema_check(
    const sluice_schema *schema, const json_t *value, sluice_schema_report report, void *context);

/// Releases a schema that no check is using; NULL is allowed. [any]
void sluice_schema_free(sluice_schema *schema);

#ifdef __cplusplus
}
#endif

#endif
