/// A host in memory. It has only the part of the engine that the interceptors of a C plugin use.
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
  /// The parsed bodies of both sides, as the `body` member of a document; NULL for none. Owned.
  json_t *body[2];
  /// The documents that the plugin got. Owned.
  json_t *document[2];
  /// Whether the plugin has asked for a document that it can change, which then replaces the native form.
  bool is_written[2];
  /// The status that writing a header returns. The header is written only if the status is SLUICE_STATUS_OK.
  sluice_status refusal;
  /// The status that marking a header returns.
  sluice_status mark_refusal;
  /// The status that comparing the URL with a list of hosts returns. The URL is compared only if the status is
  /// SLUICE_STATUS_OK.
  sluice_status match_refusal;
  char error_code[32];
  char error_message[256];
};

const sluice_host *stub_host(void);
/// Sets whether the host returns NULL for every table, as an older host does.
void stub_hide_extensions(bool is_hidden);

void stub_begin(sluice_exchange *exchange, const char *url);
void stub_end(sluice_exchange *exchange);
/// Sets the body of a side to the JSON text of a document's `body` member.
void stub_set_body(sluice_exchange *exchange, sluice_side side, const char *json);
/// Returns the member `json` of a body as compact text with sorted keys, valid until the next call.
const char *stub_body(sluice_exchange *exchange, sluice_side side);

void stub_add(sluice_exchange *exchange, sluice_side side, const char *name, const char *value);
/// Returns all values of a name joined by `|`, or NULL if there are none. Valid until the next call.
const char *stub_values(sluice_exchange *exchange, sluice_side side, const char *name);
uint32_t stub_marks(sluice_exchange *exchange, sluice_side side, const char *name);

/// Returns an instance of the linked plugin, or NULL if `create` refused; `stub_error` then returns the message.
void *stub_create(const char *config);
void stub_destroy(void *instance);
const char *stub_error(void);
const sluice_interceptor *stub_interceptor(void);
/// Whether the entry point answers two hosts correctly. It must refuse an older host with a message that names both
/// revisions, and it must return a complete table to a host of this revision. A complete table has an identity, and a
/// JSON schema that forbids unknown keys.
bool stub_describes_itself(void);

/// Calls `create` again and again: first with a failure of its first allocation, then of its second, and so on until
/// none fails. Returns false if a failed `create` answered something other than SLUICE_STATUS_NO_MEMORY or left an
/// instance. Leaks are found by the sanitizer.
bool stub_survives_failing_allocations(const char *config);
/// Lets the next `count` allocations succeed, and makes the one after them fail. With -1, none fails.
void stub_fail_allocation_after(long count);

#endif
