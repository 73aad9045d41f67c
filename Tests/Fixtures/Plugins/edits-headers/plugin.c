// Uses every header function on both sides. With WITH_DOCUMENT, it first asks for the live documents, which are then
// authoritative.
#include "../stage.h"

static void open_document(void *instance, sluice_exchange *exchange, sluice_side side) {
#ifdef WITH_DOCUMENT
  tell(instance, "document", api_of(instance)->json(exchange, side, SLUICE_JSON_WRITE) != NULL);
#else
  (void)instance, (void)exchange, (void)side;
#endif
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  open_document(instance, exchange, SLUICE_SIDE_REQUEST);
  tell(instance, "set", api->header_set(exchange, SLUICE_SIDE_REQUEST, text("X-Set"), text("one")));
  tell(instance, "add", api->header_add(exchange, SLUICE_SIDE_REQUEST, text("x-set"), text("two")));
  tell(instance, "replace", api->header_set(exchange, SLUICE_SIDE_REQUEST, text("X-Old"), text("new")));
  tell(instance, "remove", api->header_remove(exchange, SLUICE_SIDE_REQUEST, text("X-GONE")));
  tell(instance, "remove-absent", api->header_remove(exchange, SLUICE_SIDE_REQUEST, text("x-gone")));
  tell(instance, "get-absent", api->header_get(exchange, SLUICE_SIDE_REQUEST, text("x-gone"), &(sluice_text){0}));
  tell(instance, "mark", api->header_mark(exchange, SLUICE_SIDE_REQUEST, text("x-secret"), SLUICE_HEADER_SENSITIVE));
  sluice_text value = {0};
  tell(instance, "get", api->header_get(exchange, SLUICE_SIDE_REQUEST, text("X-SET"), &value));
  tell_text(instance, "value", value);
  sluice_text name;
  for (size_t i = 0; api->header_at(exchange, SLUICE_SIDE_REQUEST, i, &name, &value) == SLUICE_STATUS_OK; i++) {
    tell_text(instance, "name", name);
    tell_text(instance, "line", value);
  }
  tell(instance, "response", api->header_get(exchange, SLUICE_SIDE_RESPONSE, text("x"), &value));
  tell(instance, "method", api->method_set(exchange, text("PUT")));
  tell(instance, "url", api->url_set(exchange, text("http://example.com/changed?b=2")));
  tell(instance, "body", api->body_set(exchange, SLUICE_SIDE_REQUEST, bytes_of("hello")));
  api->method_get(exchange, &value);
  tell_text(instance, "method-is", value);
  api->url_get(exchange, &value);
  tell_text(instance, "url-is", value);
  sluice_bytes body = {0};
  api->body_get(exchange, SLUICE_SIDE_REQUEST, &body);
  tell_text(instance, "body-is", sluice_bytes_text(body));
  sluice_context context = SLUICE_SIZED(sluice_context);
  tell(instance, "context", api->context(exchange, &context));
  tell_text(instance, "path", context.path);
  tell_text(instance, "context-method", context.method);
  tell_text(instance, "parent", context.parent_traceparent);
  // A caller of an older revision passes a smaller structure, and the memory behind it must stay unchanged. A caller of
  // a newer revision passes a larger structure, and the members that this host does not know must become zero.
  struct {
    uint32_t size, attempt;
    uint64_t rest;
  } small = {8, 7, 7};
  tell(instance, "small", api->context(exchange, (sluice_context *)(void *)&small));
  tell(instance, "small-is", (long)(small.attempt * 100 + small.rest));
  struct {
    sluice_context known;
    uint64_t newer, rest;
  } large = {.known = {.size = sizeof(sluice_context) + 8}, .newer = 7, .rest = 7};
  tell(instance, "large", api->context(exchange, &large.known));
  tell_text(instance, "large-path", large.known.path);
  tell(instance, "large-is", (long)(large.newer * 100 + large.rest));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  tell(instance, "issue-set", api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-hop"), text("0")));
  tell(instance, "issue-url", api->url_set(exchange, text("http://example.com/")));
  tell(instance, "issue-response", api->header_set(exchange, SLUICE_SIDE_RESPONSE, text("x"), text("y")));
  tell(instance, "issue-json", api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_READ) != NULL);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  open_document(instance, exchange, SLUICE_SIDE_RESPONSE);
  tell(instance, "status-is", api->status_get(exchange));
  tell(instance, "status", api->status_set(exchange, 201));
  tell(instance, "response-set", api->header_set(exchange, SLUICE_SIDE_RESPONSE, text("x-answer"), text("42")));
  tell(instance, "response-request", api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x"), text("y")));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_issue = on_issue, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
