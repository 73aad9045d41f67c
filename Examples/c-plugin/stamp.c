/// Says who sent a request: in a header, and as a member of a body that is a JSON object.
#include <sluice/sluice.h>

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = instance;
  if (sluice_set_request_header(host, exchange, "x-stamp", "c-plugin") != SLUICE_STATUS_OK) {
    return sluice_fail(host, exchange, "stamp", "stamp: the host refused x-stamp");
  }
  // Only looked at first: asking to write makes the document the truth, which costs a conversion.
  const uint32_t look = SLUICE_JSON_READ | SLUICE_JSON_BODY;
  const json_t *seen = host->exchange->json(exchange, SLUICE_SIDE_REQUEST, look);
  if (!json_is_object(json_object_get(json_object_get(seen, "body"), "json"))) return SLUICE_VERDICT_CONTINUE;

  json_t *document = host->exchange->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  json_t *body = json_object_get(json_object_get(document, "body"), "json");
  if (json_object_set_new(body, "stampedBy", json_string("c-plugin")) != 0) {
    return sluice_fail(host, exchange, "stamp", "stamp: out of memory");
  }
  return SLUICE_VERDICT_CONTINUE;
}

/// The plugin remembers nothing but its host, so the host is the instance.
static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config;
  (void)error;
  *instance = (void *)(uintptr_t)host;
  return SLUICE_STATUS_OK;
}

static void destroy(void *instance) { (void)instance; }

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor = {
      .size = sizeof interceptor,
      .wants = SLUICE_WANTS_REQUEST_BODY,
      .on_request = on_request,
  };
  return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &interceptor : NULL;
}

/// Readable without running anything: useless without request bodies and documents; version 1.0.0.
SLUICE_PLUGIN_NOTE(SLUICE_FEATURE_REQUEST_BODY | SLUICE_FEATURE_DOCUMENT, 1, 0, 0)

SLUICE_EXPORT const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) {
  static const sluice_plugin plugin = {
      .size = sizeof plugin,
      .abi = SLUICE_ABI_VERSION,
      .id = "org.example.stamp",
      .version = "1.0.0",
      .summary = "Says who sent a request",
      .config_schema = "{\"type\": \"object\", \"additionalProperties\": false}",
      .create = create,
      .destroy = destroy,
      .extension = extension,
  };
  (void)host;
  if (abi >= SLUICE_ABI_VERSION) return &plugin;
  sluice_error_set(error, "built for ABI %u, this host speaks %u", SLUICE_ABI_VERSION, abi);
  return NULL;
}
