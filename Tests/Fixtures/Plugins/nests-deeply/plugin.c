// Gives the host JSON that is nested too deeply for any recursion. This code does not recurse either. It builds a value
// from the inside out, and passes the ownership of the value to the document.
#include "../stage.h"

#ifndef DEPTH
#define DEPTH 200000
#endif

static json_t *nested(void) {
  json_t *value = json_array();
  for (int i = 1; i < DEPTH; i++) {
    json_t *outer = i % 2 ? json_object() : json_array();
    if (i % 2) {
      json_object_set_new(outer, "a", value);
    } else {
      json_array_append_new(outer, value);
    }
    value = outer;
  }
  return value;
}

/// Each array contains the previous array twice, so the text of 60 values would have 2^60 brackets.
static json_t *spread(void) {
  json_t *value = json_array();
  for (int i = 0; i < 60; i++) {
    json_t *outer = json_array();
    json_array_append(outer, value);
    json_array_append_new(outer, value);
    value = outer;
  }
  return value;
}

/// A value that contains itself through another value.
static json_t *circular(void) {
  json_t *outer = json_object(), *inner = json_object();
  json_object_set(inner, "outer", outer);
  json_object_set_new(outer, "inner", inner);
  return outer;
}

static json_t *made(void) {
#if defined(CIRCULAR)
  return circular();
#elif defined(SPREAD)
  return spread();
#else
  return nested();
#endif
}

static void ended(void *context, const sluice_call_result *result) { (void)context, (void)result; }

static void put(json_t *document, const char *key, json_t *value) { json_object_set_new(document, key, value); }

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  (void)nested, (void)spread, (void)circular, (void)ended, (void)put;
#ifdef IN_CALL_OUT
  const sluice_callout *callout = host_of(instance)->extension(host_of(instance), SLUICE_CALLOUT_ID);
  json_t *request = json_pack("{s:s,s:{s:o}}", "url", "http://example.com/", "body", "json", made());
  tell(instance, "start", callout->start(host_of(instance), request, NULL, ended, NULL, NULL));
  return SLUICE_VERDICT_CONTINUE;
#endif
  json_t *document = api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  if (!document) return SLUICE_VERDICT_CONTINUE;
#ifdef IN_BODY
  put(document, "body", json_pack("{s:o}", "json", made()));
#endif
#ifdef IN_HEADER
  put(json_object_get(document, "headers"), "x-deep", made());
  // The host replaces the nested value, which is then released.
  tell(instance, "set", api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-deep"), text("flat")));
#endif
#ifdef IN_HEADERS
  put(document, "headers", json_pack("[o]", made()));
  tell(instance, "set", api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-deep"), text("flat")));
#endif
#ifdef IN_LINE
  put(document, "method", made());
  put(document, "url", made());
  tell(instance, "method", api->method_set(exchange, text("PUT")));
  tell(instance, "url", api->url_set(exchange, text("http://example.com/")));
#endif
#ifdef IN_UNKNOWN
  put(document, "unknown", made());
#endif
#ifdef IN_BODY
  sluice_bytes bytes = {0};
  tell(instance, "get", api->body_get(exchange, SLUICE_SIDE_REQUEST, &bytes));
#endif
#ifdef REPLACED
  tell(instance, "set", api->body_set(exchange, SLUICE_SIDE_REQUEST, bytes_of("flat")));
#endif
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
#ifdef IN_RESPONSE
  json_t *document = api->json(exchange, SLUICE_SIDE_RESPONSE, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
  put(document, "status", made());
  tell(instance, "status", api->status_set(exchange, 201));
  put(document, "body", json_pack("{s:o}", "json", made()));
#endif
  (void)api, (void)exchange;
  return SLUICE_VERDICT_CONTINUE;
}

static json_t *save(void *instance, sluice_error *error) {
  (void)instance, (void)error;
  return made();
}

static sluice_status load(void *instance, json_t *state, uint32_t version, sluice_error *error) {
  (void)instance, (void)state, (void)version, (void)error;
  return SLUICE_STATUS_OK;
}

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor =
      SLUICE_TABLE(sluice_interceptor, .wants = SLUICE_WANTS_REQUEST_BODY | SLUICE_WANTS_RESPONSE_BODY,
                   .on_request = on_request, .on_response = on_response);
  static const sluice_state state = SLUICE_TABLE(sluice_state, .version = 1, .save = save, .load = load);
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  return strcmp(id, SLUICE_STATE_ID) == 0 ? (const void *)&state : NULL;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
