// The parts of a plugin that is a stage. Its instance pointer is the host's table. Results are written to the log, as
// lines `name=number`, which the tests read.
#ifndef STAGE_H
#define STAGE_H

#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

static inline const sluice_host *host_of(void *instance) { return instance; }
static inline const sluice_exchange_api *api_of(void *instance) { return host_of(instance)->exchange; }
static inline sluice_text text(const char *string) { return sluice_text_make(string); }

static inline sluice_bytes bytes_of(const char *string) { return sluice_text_bytes(text(string)); }

static inline void tell(void *instance, const char *name, long number) {
  char line[128];
  snprintf(line, sizeof line, "%s=%ld", name, number);
  sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
}

static inline void tell_text(void *instance, const char *name, sluice_text value) {
  char line[512];
  snprintf(line, sizeof line, "%s=%.*s", name, (int)value.size, value.data ? value.data : "");
  sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
}

/// Defines a plugin that has one table.
#define STAGE_PLUGIN(id_, table_)                    \
  SLUICE_EXTENSIONS(extension, {(id_), &(table_)}); \
  FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension)

#endif
