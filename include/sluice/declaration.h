/// A plugin in one declaration: its note, its table and its entry point.
///
///     static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, on_request));
///     SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
///     SLUICE_PLUGIN("org.example.tenant", "1.4.0",
///                   SLUICE_SET(summary, "Names the tenant"),
///                   SLUICE_UNCONFIGURED,
///                   SLUICE_SET(extension, extension));
#ifndef SLUICE_DECLARATION_H
#define SLUICE_DECLARATION_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <jansson.h>
#include <sluice/abi.h>
#include <sluice/convenience.h>
#include <sluice/error.h>
#include <sluice/host.h>
#include <sluice/note.h>
#include <sluice/plugin.h>
#include <sluice/status.h>
#include <sluice/table.h>

/// Declares the plugin of this library: once, at file scope. The id and the version are string literals; the version
/// has at most 31 characters. The other arguments are members of `sluice_plugin`, as in SLUICE_TABLE. `summary`,
/// `create`, `destroy` and `extension` are required.
#define SLUICE_PLUGIN(id_, version_, ...)                                                                             \
  static SLUICE_CONSTANT_ sluice_plugin sluice_plugin_table_ =                                                        \
      SLUICE_TABLE(sluice_plugin, SLUICE_SET(abi, SLUICE_ABI_VERSION), SLUICE_SET(id, "" id_),                        \
                   SLUICE_SET(version, "" version_), __VA_ARGS__);                                                    \
  SLUICE_EXPORT const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) { \
    (void)host;                                                                                                       \
    return sluice_plugin_for_abi(&sluice_plugin_table_, abi, error);                                                  \
  }                                                                                                                   \
  SLUICE_PLUGIN_NOTE(version_)

/// The table, if the host speaks the revision for which the plugin was built; otherwise NULL and a message. [control]
static inline const sluice_plugin *sluice_plugin_for_abi(
    const sluice_plugin *plugin, uint32_t abi, sluice_error *error) {
  if (abi >= plugin->abi) return plugin;
  sluice_error_set(error, "built for ABI %u, this host speaks %u; use a newer host", plugin->abi, abi);
  return NULL;
}

/// One element of the list in SLUICE_EXTENSIONS: a table of a plugin, and the id of the table.
typedef struct sluice_extension_entry {
  const char *id;
  const void *table;
} sluice_extension_entry;

/// Defines the function `extension` of a plugin, under a name of your choice, from a list of the plugin's tables. Use
/// it at file scope.
///
///     SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_TRACER_ID, &tracer});
#define SLUICE_EXTENSIONS(function_, ...)                                                          \
  static const void *function_(const char *id) {                                                 \
    static SLUICE_CONSTANT_ sluice_extension_entry entries[] = {__VA_ARGS__};                       \
    return sluice_find_extension(entries, sizeof entries / sizeof entries[0], id);                \
  }                                                                                              \
  SLUICE_ASSERT_(sizeof(&function_) > 0, "")

/// Returns the table that the list has for this id, or NULL if the list does not contain the id. [control]
static inline const void *sluice_find_extension(const sluice_extension_entry *entries, size_t count, const char *id) {
  for (size_t index = 0; index < count; index++) {
    if (strcmp(entries[index].id, id) == 0) return entries[index].table;
  }
  return NULL;
}

/// The members `create`, `destroy` and `config_schema` of a plugin that has no configuration and no state. The host
/// takes the place of the instance, so every function gets it as `instance`:
/// `const sluice_host *host = (const sluice_host *)instance;`.
#define SLUICE_UNCONFIGURED                                                                    \
  SLUICE_SET(create, sluice_create_unconfigured), SLUICE_SET(destroy, sluice_destroy_nothing), \
      SLUICE_SET(config_schema, "{\"type\": \"object\", \"additionalProperties\": false}")

/// `create` for SLUICE_UNCONFIGURED: the host is the instance. Refuses a configuration with any key. [control]
static inline sluice_status sluice_create_unconfigured(
    const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  if (config && !json_is_null(config) && !(json_is_object(config) && json_object_size(config) == 0)) {
    return sluice_error_set(error, "this plugin has no configuration; remove \"config\"");
  }
  *instance = (void *)(uintptr_t)host;
  return SLUICE_STATUS_OK;
}

/// `destroy` of an instance that owns nothing. [control]
static inline void sluice_destroy_nothing(void *instance) { (void)instance; }

#endif
