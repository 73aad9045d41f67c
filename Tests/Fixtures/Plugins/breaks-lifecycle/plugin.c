// create returns CREATE, and activate returns ACTIVATE. The plugin counts the lifecycle calls in fixture.calls.
#include "../stage.h"

#ifndef CREATE
#define CREATE SLUICE_STATUS_OK
#endif
#ifndef ACTIVATE
#define ACTIVATE SLUICE_STATUS_OK
#endif
#ifndef INSTANCE
#define INSTANCE (void *)host
#endif

// create, activate, deactivate, destroy
static int calls[4];

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config;
  calls[0]++;
  if (CREATE != SLUICE_STATUS_OK) return sluice_error_set(error, "the moon is missing");
  sluice_log(host, SLUICE_LOG_INFO, "created");
  *instance = INSTANCE;
  return SLUICE_STATUS_OK;
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)instance;
  calls[1]++;
  if (ACTIVATE != SLUICE_STATUS_OK) return sluice_error_set(error, "the moon is down");
  return SLUICE_STATUS_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  tell(instance, "deadline", (long)deadline);
  calls[2]++;
}

static void destroy(void *instance) {
  tell(instance, "destroyed", 1);
  calls[3]++;
}

static const void *extension(const char *id) { return strcmp(id, "fixture.calls") == 0 ? calls : NULL; }

FIXTURE_PLUGIN(
    .config_schema = "{\"type\": \"object\", \"properties\": {\"token\": {\"type\": \"string\"}}}",
    .create = create, .activate = activate, .deactivate = deactivate, .destroy = destroy, .extension = extension);
