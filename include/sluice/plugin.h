/// The table of a plugin, and the one exported function that returns it.
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

/// The table and its strings must live as long as the library is mapped.
typedef struct sluice_plugin {
  uint32_t size;
  /// The revision of the ABI that the table was built for; at most the revision that the host passed.
  uint32_t abi;
  /// Reverse-DNS or a plain name, the same in all versions: `org.example.auth`.
  const char *id;
  /// Semantic version.
  const char *version;
  /// One line for people.
  const char *summary;
  /// JSON Schema (draft-07) that the configuration is checked against before `create`; NULL accepts anything.
  const char *config_schema;

  /// Checks the configuration and remembers it: no I/O, no threads. `config` is borrowed; take a reference or a copy to
  /// keep it. On SLUICE_STATUS_OK `*instance` must not be NULL; with any other status the plugin must have released
  /// everything. [control]
  sluice_status (*create)(const sluice_host *host, json_t *config, void **instance, sluice_error *error);
  /// Opens files and connections and starts work. Called just before the instance gets its first exchange. May be NULL.
  /// If it fails, `destroy` follows without `deactivate`. [control]
  sluice_status (*activate)(void *instance, sluice_error *error);
  /// Called when no call is running, timers are cancelled, and no new exchanges will come. End threads and other work
  /// within the timeout. May be NULL. [control]
  void (*deactivate)(void *instance, uint64_t timeout_ns);
  /// Releases the instance; nothing is called for it afterwards, and the host of `create` is invalid after `destroy`
  /// has returned. [control]
  void (*destroy)(void *instance);
  /// Returns a table by its id (`sluice.interceptor/1` …); NULL if the plugin does not have it. The host calls this
  /// function also before `create`. It must have no side effects, and must return the same table for all instances. The
  /// table must live as long as the library is mapped. [control]
  const void *(*extension)(const char *id);
} sluice_plugin;
#define SLUICE_PLUGIN_SIZE_1 80u

/// The type of the one exported function.
///
/// It must have no side effects: no I/O, no threads, no stored state. It may be called several times, and by several
/// hosts in one process. `abi` is the highest revision that the host speaks. Returns NULL with a message if the plugin
/// cannot work with this host. [control]
typedef const sluice_plugin *sluice_plugin_entry_function(const sluice_host *host, uint32_t abi, sluice_error *error);

SLUICE_BEGIN_DECLS
/// The function that a plugin defines; see sluice_plugin_entry_function. [control]
__attribute__((visibility("default"))) const sluice_plugin *sluice_plugin_entry(
    const sluice_host *host, uint32_t abi, sluice_error *error);
SLUICE_END_DECLS

#endif
