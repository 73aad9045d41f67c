/// What a plugin is: one exported function that gives one table.
///
///     entry ─ create ─ activate ─ calls … ─ deactivate ─ destroy
///               └ fails ┴ fails: the plugin has cleaned up; after a failed activate destroy still follows
#ifndef SLUICE_PLUGIN_H
#define SLUICE_PLUGIN_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/abi.h>
#include <sluice/error.h>
#include <sluice/host.h>
#include <sluice/status.h>

/// Lives as long as the library is mapped; the strings too.
typedef struct sluice_plugin {
  uint32_t size;
  /// The revision of the ABI that the table is made for; not above the one asked for.
  uint32_t abi;
  /// Reverse-DNS or a plain name, the same over all versions: `org.example.auth`.
  const char *id;
  /// Semantic version.
  const char *version;
  /// One line for people.
  const char *summary;
  /// JSON Schema (draft-07) that the configuration is checked against before `create`; NULL takes anything.
  const char *config_schema;

  /// Checks the configuration and remembers it: no I/O, no threads. `config` is borrowed; take a reference or a copy to
  /// keep it. On SLUICE_OK `*instance` must not be NULL; on anything else the plugin has released what it made.
  /// [control]
  sluice_status (*create)(const sluice_host *host, json_t *config, void **instance, sluice_error *error);
  /// Opens, connects, starts: called just before the instance gets its first exchange. May be NULL. When it fails,
  /// `destroy` follows without `deactivate`. [control]
  sluice_status (*activate)(void *instance, sluice_error *error);
  /// No new exchanges come from here on, no call is under way, and timers are cancelled; end threads and what else is
  /// under way within `deadline` nanoseconds. May be NULL. [control]
  void (*deactivate)(void *instance, uint64_t deadline);
  /// Releases the instance; nothing is called for it afterwards, and the host of `create` is gone when it returns.
  /// [control]
  void (*destroy)(void *instance);
  /// A table by its id (`sluice.interceptor/1` …), NULL when the plugin does not have it. Pure, the same for all
  /// instances, and asked before `create` too; the table lives as long as the library is mapped. [control]
  const void *(*extension)(const char *id);
} sluice_plugin;

/// The type of the one exported function.
///
/// Pure: no I/O, no threads, nothing kept; it can be called again, and by several hosts in one process. `abi` is the
/// highest revision the host speaks. Returns NULL with a message when the plugin cannot work with this host. [control]
typedef const sluice_plugin *sluice_plugin_entry_function(const sluice_host *host, uint32_t abi, sluice_error *error);

SLUICE_BEGIN_DECLS
/// The name to define it under; see sluice_plugin_entry_function. [control]
__attribute__((visibility("default"))) const sluice_plugin *sluice_plugin_entry(
    const sluice_host *host, uint32_t abi, sluice_error *error);
SLUICE_END_DECLS

#endif
