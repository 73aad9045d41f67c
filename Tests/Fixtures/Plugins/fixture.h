// The parts of a working plugin. Each fixture replaces the part in which it misbehaves.
#ifndef FIXTURE_H
#define FIXTURE_H

#include <sluice/sluice.h>

static inline sluice_status fixture_create(
    const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config, (void)error;
  *instance = (void *)host;
  return SLUICE_STATUS_OK;
}

static inline void fixture_destroy(void *instance) {
  (void)instance;
}

static inline const void *fixture_no_extension(const char *id) {
  (void)id;
  return NULL;
}

#ifndef FIXTURE_ID
#define FIXTURE_ID "fixture"
#endif

/// Declares a correct plugin; the arguments are members of its table.
#define FIXTURE_PLUGIN(...) SLUICE_PLUGIN(FIXTURE_ID, "1.0.0", .summary = "A fixture.", __VA_ARGS__)

/// The lifecycle functions of a plugin that accepts any configuration. Its instance pointer is the host's table.
#define FIXTURE_LIFE .create = fixture_create, .destroy = fixture_destroy

/// The members of a correct table, for a plugin that SLUICE_PLUGIN cannot declare because it has its own note or entry
/// point.
#define FIXTURE_TABLE                                                                              \
  .size = sizeof(sluice_plugin), .abi = SLUICE_ABI_VERSION, .id = "fixture", .version = "1.0.0", \
  .summary = "A fixture.", FIXTURE_LIFE

/// Defines an entry point that returns the table.
#define FIXTURE_ENTRY(table)                                                                           \
  const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) { \
    (void)host, (void)abi, (void)error;                                                               \
    return (table);                                                                                   \
  }

#endif
