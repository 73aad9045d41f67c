#include "stub_origins.h"

#include <stdlib.h>

#include <sluice/draft/origins.h>

#include "stub_host.h"

/// The strings of the configuration. Owned.
struct sluice_origin_list {
  json_t *hosts;
};

static sluice_status read_hosts(
    const sluice_host *host, const json_t *hosts, const char *name, sluice_origin_list **list, sluice_error *error) {
  (void)host;
  if (json_array_size(hosts) == 0) return sluice_error_set(error, "\"%s\": expected an array", name);
  for (size_t i = 0; i < json_array_size(hosts); i++) {
    if (!json_is_string(json_array_get(hosts, i))) {
      return sluice_error_set(error, "\"%s\"[%zu]: expected a string", name, i);
    }
  }
  sluice_origin_list *copy = malloc(sizeof *copy);
  json_t *hosts_copy = copy ? json_deep_copy(hosts) : NULL;
  if (!hosts_copy) {
    free(copy);
    sluice_error_set(error, "out of memory");
    return SLUICE_STATUS_NO_MEMORY;
  }
  copy->hosts = hosts_copy;
  *list = copy;
  return SLUICE_STATUS_OK;
}

/// Compares only `*` and whole host names after `https://`. This is enough to see whether the plugin calls the
/// function.
static sluice_status match(sluice_exchange *exchange, const sluice_origin_list *list) {
  static const char scheme[] = "https://";
  if (exchange->match_refusal != SLUICE_STATUS_OK) return exchange->match_refusal;
  if (strncmp(exchange->url, scheme, sizeof scheme - 1) != 0) return SLUICE_STATUS_ABSENT;
  const char *name = exchange->url + sizeof scheme - 1;
  size_t size = strcspn(name, "/:?#");
  for (size_t i = 0; i < json_array_size(list->hosts); i++) {
    const char *host = json_string_value(json_array_get(list->hosts, i));
    if (strcmp(host, "*") == 0 || (strlen(host) == size && strncmp(host, name, size) == 0)) return SLUICE_STATUS_OK;
  }
  return SLUICE_STATUS_ABSENT;
}

static void release(sluice_origin_list *list) {
  if (!list) return;
  json_decref(list->hosts);
  free(list);
}

const void *stub_origins(const char *id) {
  static const sluice_origins table = {
      .size = sizeof table, .read = read_hosts, .match = match, .release = release};
  return strcmp(id, SLUICE_ORIGINS_ID) == 0 ? &table : NULL;
}
