// The parts of a plugin that works. A fixture replaces the part that it misbehaves in.
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

/// Who a plugin is.
#define FIXTURE_IDENTITY                                                                               \
  .size = sizeof(sluice_plugin), .abi = SLUICE_ABI_VERSION, .id = "fixture", .version = "1.0.0",     \
  .summary = "A fixture."

/// The members of a table that is in order.
#define FIXTURE_TABLE FIXTURE_IDENTITY, .create = fixture_create, .destroy = fixture_destroy

/// The entry point that gives a table.
#define FIXTURE_ENTRY(table)                                                                           \
  const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) { \
    (void)host, (void)abi, (void)error;                                                               \
    return (table);                                                                                   \
  }

#endif
