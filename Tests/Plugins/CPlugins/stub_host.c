#include "stub_host.h"

#include <stdlib.h>

#include "stub_origins.h"

extern const sluice_exchange_api stub_exchange_api;

static char message[512];
static long allocations_left = -1;

// The linker's --wrap redirects the plugin's own allocations to these functions; json_set_alloc_funcs redirects
// jansson's.
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool is_failing(void) { return allocations_left >= 0 && allocations_left-- == 0; }

void *__wrap_malloc(size_t size) { return is_failing() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return is_failing() ? NULL : __real_calloc(count, size); }

void stub_fail_allocation_after(long count) {
  json_set_alloc_funcs(__wrap_malloc, free);
  allocations_left = count;
}

static bool is_without_extensions;

void stub_hide_extensions(bool is_hidden) { is_without_extensions = is_hidden; }

static const void *extension(const sluice_host *host, const char *id) {
  (void)host;
  return is_without_extensions ? NULL : stub_origins(id);
}

const sluice_host *stub_host(void) {
  static const sluice_host host = {
      .size = sizeof host, .abi = SLUICE_ABI_VERSION, .exchange = &stub_exchange_api, .extension = extension};
  return &host;
}

const char *stub_error(void) { return message; }

static const sluice_plugin *plugin(void) {
  sluice_error error = {sizeof error, sizeof message, message};
  return sluice_plugin_entry(stub_host(), SLUICE_ABI_VERSION, &error);
}

const sluice_interceptor *stub_interceptor(void) { return plugin()->extension(SLUICE_INTERCEPTOR_ID); }

static bool has_closed_schema(const char *text) {
  json_t *schema = json_loads(text, 0, NULL);
  bool is_closed = json_is_false(json_object_get(schema, "additionalProperties"));
  json_decref(schema);
  return is_closed;
}

bool stub_describes_itself(void) {
  sluice_error error = {sizeof error, sizeof message, message};
  bool is_refused = !sluice_plugin_entry(stub_host(), 0, &error) && strstr(message, "ABI 1, this host speaks 0");
  const sluice_plugin *table = plugin();
  return is_refused && table->size == sizeof *table && table->abi == SLUICE_ABI_VERSION && table->id[0] &&
         table->version[0] && table->summary[0] && has_closed_schema(table->config_schema) &&
         table->extension("sluice.unknown/1") == NULL;
}

static sluice_status create(json_t *config, void **instance) {
  sluice_error error = {sizeof error, sizeof message, message};
  message[0] = '\0';
  return plugin()->create(stub_host(), config, instance, &error);
}

void *stub_create(const char *config) {
  void *instance = NULL;
  json_t *document = json_loads(config, 0, NULL);
  sluice_status status = create(document, &instance);
  json_decref(document);
  return status == SLUICE_STATUS_OK ? instance : NULL;
}

void stub_destroy(void *instance) {
  if (instance) plugin()->destroy(instance);
}

bool stub_survives_failing_allocations(const char *config) {
  json_t *document = json_loads(config, 0, NULL);
  sluice_status status = SLUICE_STATUS_NO_MEMORY;
  void *instance = NULL;
  for (long count = 0; status == SLUICE_STATUS_NO_MEMORY; count++) {
    stub_fail_allocation_after(count);
    instance = NULL;
    status = create(document, &instance);
    stub_fail_allocation_after(-1);
    if (status == SLUICE_STATUS_NO_MEMORY && (instance || !message[0])) break;
  }
  json_decref(document);
  if (status != SLUICE_STATUS_OK) return false;
  stub_destroy(instance);
  return true;
}
