/// A host in memory: the part of the engine that the interceptors of a C plugin see.
#ifndef STUB_HOST_H
#define STUB_HOST_H

#include <stdbool.h>

#include <sluice/sluice.h>

enum { STUB_FIELDS = 16 };

typedef struct stub_field {
  char name[64];
  char value[256];
  uint32_t marks;
} stub_field;

struct sluice_exchange {
  char url[256];
  stub_field fields[2][STUB_FIELDS];
  size_t count[2];
  /// The parsed bodies: the `body` member of a document, NULL for none. Owned.
  json_t *body[2];
  /// The documents that the plugin got. Owned.
  json_t *document[2];
  /// Whether a document became authoritative.
  bool is_written[2];
  /// What writing a header returns; with SLUICE_STATUS_OK the header is written.
  sluice_status refusal;
  /// What marking a header returns.
  sluice_status mark_refusal;
  /// What comparing the URL with a list of hosts returns; with SLUICE_STATUS_OK they are compared.
  sluice_status match_refusal;
  char error_code[32];
  char error_message[256];
};

const sluice_host *stub_host(void);
/// Whether the host returns NULL for every table, as an older host does.
void stub_hide_extensions(bool is_hidden);

void stub_begin(sluice_exchange *exchange, const char *url);
void stub_end(sluice_exchange *exchange);
/// Gives a side a body from the text of a document's `body` member.
void stub_set_body(sluice_exchange *exchange, sluice_side side, const char *json);
/// `json` of a body as compact text with sorted keys, valid until the next call.
const char *stub_body(sluice_exchange *exchange, sluice_side side);

void stub_add(sluice_exchange *exchange, sluice_side side, const char *name, const char *value);
/// All values of a name joined by `|`, NULL without any; valid until the next call.
const char *stub_values(sluice_exchange *exchange, sluice_side side, const char *name);
uint32_t stub_marks(sluice_exchange *exchange, sluice_side side, const char *name);

/// An instance of the linked plugin; NULL if `create` refused, with the message in `stub_error`.
void *stub_create(const char *config);
void stub_destroy(void *instance);
const char *stub_error(void);
const sluice_interceptor *stub_interceptor(void);
/// Whether the entry point refuses an older host and names both revisions, and returns a complete table: identity, and
/// a JSON schema that forbids unknown keys.
bool stub_describes_itself(void);

/// Calls `create` with the first allocation failing, then the second, and so on until none fails. Returns false if a
/// failed `create` answered something other than SLUICE_STATUS_NO_MEMORY or left an instance. The sanitizer finds
/// leaks.
bool stub_survives_failing_allocations(const char *config);
/// After `count` more allocations the next one fails, once; -1 means that none fails.
void stub_fail_allocation_after(long count);

#endif
