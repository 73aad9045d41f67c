/// Adds a bearer token to requests for the listed hosts, and to no other.
#define _DEFAULT_SOURCE
#include <stdbool.h>
#include <stdlib.h>

#include <sluice/draft/origins.h>
#include <sluice/sluice.h>

typedef struct bearer_auth {
  const sluice_host *host;
  char *header;
  /// The scheme, a space and the token; overwritten before it is freed.
  char *value;
  bool overwrite;
  /// The servers that get the token, and the host's functions that compare a URL with this list.
  sluice_origin_list *hosts;
  const sluice_origins *origins;
} bearer_auth;

static const char schema[] =
    "{\"$schema\": \"http://json-schema.org/draft-07/schema#\","
    " \"type\": \"object\", \"additionalProperties\": false, \"required\": [\"hosts\"],"
    " \"oneOf\": [{\"required\": [\"token\"]}, {\"required\": [\"environment\"]}],"
    " \"properties\": {"
    "  \"token\": {\"type\": \"string\", \"minLength\": 1},"
    "  \"environment\": {\"type\": \"string\", \"minLength\": 1},"
    "  \"hosts\": {\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"string\", \"minLength\": 1}},"
    "  \"header\": {\"type\": \"string\", \"minLength\": 1},"
    "  \"scheme\": {\"type\": \"string\"},"
    "  \"overwrite\": {\"type\": \"boolean\"}}}";

static sluice_status no_memory(sluice_error *error) {
  sluice_error_set(error, "out of memory");
  return SLUICE_STATUS_NO_MEMORY;
}

/// A string member, or the default if it is missing.
static sluice_status read_string(
    const json_t *config, const char *key, const char *fallback, sluice_text *text, sluice_error *error) {
  const json_t *value = json_object_get(config, key);
  *text = sluice_text_make(fallback);
  if (!value) return SLUICE_STATUS_OK;
  if (!json_is_string(value)) return sluice_error_set(error, "\"%s\": expected a string", key);
  text->data = json_string_value(value);
  text->size = json_string_length(value);
  return SLUICE_STATUS_OK;
}

/// The token from the configuration or the environment. A message never shows it.
static sluice_status read_token(const json_t *config, sluice_text *token, sluice_error *error) {
  const char *source = "token";
  sluice_text variable;
  if (read_string(config, "environment", NULL, &variable, error) != SLUICE_STATUS_OK) return SLUICE_STATUS_FAILED;
  if (read_string(config, "token", NULL, token, error) != SLUICE_STATUS_OK) return SLUICE_STATUS_FAILED;
  if (!variable.data == !token->data) {
    return sluice_error_set(
        error, "expected either \"token\" or \"environment\", the name of a variable that holds it");
  }
  if (variable.data) {
    source = variable.data;
    *token = sluice_text_make(getenv(variable.data));
    if (!token->data) return sluice_error_set(error, "\"environment\": the variable %s is not set", source);
  }
  if (token->size == 0) return sluice_error_set(error, "\"%s\": the token is empty", source);
  for (size_t i = 0; i < token->size; i++) {
    if (token->data[i] > 0x20 && token->data[i] < 0x7f) continue;
    return sluice_error_set(
        error, "\"%s\": character %zu of the token is a space, a line break or not ASCII; expected visible ASCII only",
        source, i + 1);
  }
  return SLUICE_STATUS_OK;
}

static sluice_status read_header(bearer_auth *auth, const json_t *config, sluice_error *error) {
  sluice_text name;
  if (read_string(config, "header", "Authorization", &name, error) != SLUICE_STATUS_OK) return SLUICE_STATUS_FAILED;
  if (!sluice_is_token(name)) return sluice_error_set(error, "\"header\": expected the name of a header");
  if (sluice_is_hop_by_hop(name)) {
    return sluice_error_set(error, "\"header\": %s belongs to the connection; no stage can set it", name.data);
  }
  auth->header = malloc(name.size + 1);
  if (!auth->header) return no_memory(error);
  memcpy(auth->header, name.data, name.size + 1);
  return SLUICE_STATUS_OK;
}

static sluice_status read_value(bearer_auth *auth, const json_t *config, sluice_error *error) {
  sluice_text token, scheme;
  sluice_status status = read_token(config, &token, error);
  if (status != SLUICE_STATUS_OK) return status;
  if (read_string(config, "scheme", "Bearer", &scheme, error) != SLUICE_STATUS_OK) return SLUICE_STATUS_FAILED;
  if (scheme.size > 0 && !sluice_is_token(scheme)) {
    return sluice_error_set(error, "\"scheme\": expected a word like \"Bearer\", or \"\" for the token alone");
  }
  size_t capacity = scheme.size + token.size + 2;
  auth->value = malloc(capacity);
  if (!auth->value) return no_memory(error);
  snprintf(auth->value, capacity, "%s%s%s", scheme.data, scheme.size ? " " : "", token.data);
  return SLUICE_STATUS_OK;
}

static sluice_status read_overwrite(bearer_auth *auth, const json_t *config, sluice_error *error) {
  const json_t *overwrite = json_object_get(config, "overwrite");
  if (overwrite && !json_is_boolean(overwrite)) {
    return sluice_error_set(error, "\"overwrite\": expected true or false");
  }
  auth->overwrite = json_is_true(overwrite);
  return SLUICE_STATUS_OK;
}

static sluice_status read_hosts(bearer_auth *auth, const json_t *config, sluice_error *error) {
  auth->origins = auth->host->extension(auth->host, SLUICE_ORIGINS_ID);
  if (!SLUICE_HAS(auth->origins, release)) {
    auth->origins = NULL;
    return sluice_error_set(
        error, "this host lacks " SLUICE_ORIGINS_ID ", which compares URLs with \"hosts\"; use a newer host");
  }
  return auth->origins->read(auth->host, json_object_get(config, "hosts"), "hosts", &auth->hosts, error);
}

static void destroy(void *instance) {
  bearer_auth *auth = instance;
  if (auth->value) explicit_bzero(auth->value, strlen(auth->value));
  free(auth->value);
  free(auth->header);
  if (auth->origins) auth->origins->release(auth->hosts);
  free(auth);
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  bearer_auth *auth = calloc(1, sizeof *auth);
  if (!auth) return no_memory(error);
  auth->host = host;
  sluice_status status = read_header(auth, config, error);
  if (status == SLUICE_STATUS_OK) status = read_value(auth, config, error);
  if (status == SLUICE_STATUS_OK) status = read_overwrite(auth, config, error);
  if (status == SLUICE_STATUS_OK) status = read_hosts(auth, config, error);
  if (status != SLUICE_STATUS_OK) {
    destroy(auth);
    return status;
  }
  *instance = auth;
  return SLUICE_STATUS_OK;
}

/// Sets the header and marks it as a secret; if it cannot be marked, it is removed.
static sluice_verdict set_token(const bearer_auth *auth, sluice_exchange *exchange) {
  const sluice_exchange_api *api = auth->host->exchange;
  sluice_text name = sluice_text_make(auth->header);
  sluice_status status = api->header_set(exchange, SLUICE_SIDE_REQUEST, name, sluice_text_make(auth->value));
  if (status != SLUICE_STATUS_OK) {
    return sluice_fail(auth->host, exchange, "auth_header", "bearer-auth: the host refused the header with the token");
  }
  if (api->header_mark(exchange, SLUICE_SIDE_REQUEST, name, SLUICE_HEADER_SENSITIVE) != SLUICE_STATUS_OK) {
    api->header_remove(exchange, SLUICE_SIDE_REQUEST, name);
    return sluice_fail(auth->host, exchange, "auth_header", "bearer-auth: the token could not be marked as a secret");
  }
  return SLUICE_VERDICT_CONTINUE;
}

/// Called in on_request and before each hop. Before a hop, the URL is that of the hop, so the target of a redirect is
/// checked too.
static sluice_verdict authorize(void *instance, sluice_exchange *exchange) {
  const bearer_auth *auth = instance;
  sluice_status status = auth->origins->match(exchange, auth->hosts);
  if (status == SLUICE_STATUS_ABSENT) return SLUICE_VERDICT_CONTINUE;
  if (status != SLUICE_STATUS_OK) {
    return sluice_fail(auth->host, exchange, "auth_url", "bearer-auth: the host could not check the URL");
  }
  if (!auth->overwrite && sluice_request_header(auth->host, exchange, auth->header).data) return SLUICE_VERDICT_CONTINUE;
  return set_token(auth, exchange);
}

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, authorize), SLUICE_SET(on_issue, authorize));
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});

SLUICE_PLUGIN("bearer-auth", "1.0.0",
              SLUICE_SET(summary, "Adds a bearer token to requests for the listed hosts"),
              SLUICE_SET(config_schema, schema),
              SLUICE_SET(create, create),
              SLUICE_SET(destroy, destroy),
              SLUICE_SET(extension, extension));
