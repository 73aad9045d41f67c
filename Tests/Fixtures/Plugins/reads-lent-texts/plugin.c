// Reads lent texts after a further call to the host has replaced the values that they came from. Each result is 1 if
// the bytes have not changed.
#include "../stage.h"

enum { COPY_SIZE = 4096, CHUNKS = 8192 };

/// A lent text, and a copy of its original content.
typedef struct lent {
  sluice_text text;
  char copy[COPY_SIZE];
} lent;

static lent remember(sluice_text text) {
  lent lent = {text, {0}};
  memcpy(lent.copy, text.data, text.size < COPY_SIZE ? text.size : COPY_SIZE);
  return lent;
}

/// Reuses freed memory of any size, so that a text in it changes.
static void reuse_memory(void) {
  static void *chunks[CHUNKS];
  for (size_t i = 0; i < CHUNKS; i++) {
    size_t size = 24 + i / 8 * 16;
    chunks[i] = malloc(size);
    if (chunks[i]) memset(chunks[i], 'Z', size);
  }
  for (size_t i = 0; i < CHUNKS; i++) free(chunks[i]);
}

static void tell_kept(void *instance, const char *name, const lent *lent) {
  size_t size = lent->text.size < COPY_SIZE ? lent->text.size : COPY_SIZE;
  reuse_memory();
  tell(instance, name, size > 0 && memcmp(lent->text.data, lent->copy, size) == 0);
}

static void change_headers(void *instance, sluice_exchange *exchange, sluice_side side) {
  const sluice_exchange_api *api = api_of(instance);
  char name[16];
  api->header_set(exchange, side, text("x-lent"), text("changed"));
  for (int i = 0; i < 400; i++) {
    snprintf(name, sizeof name, "x-%d", i);
    api->header_add(exchange, side, text(name), text("a value that takes room in the list of fields"));
  }
  for (int i = 0; i < 400; i++) {
    snprintf(name, sizeof name, "x-%d", i);
    api->header_remove(exchange, side, text(name));
  }
}

static void read_headers(void *instance, sluice_exchange *exchange, sluice_side side) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_text name = {0}, value = {0};
  if (api->header_get(exchange, side, text("x-lent"), &value) != SLUICE_STATUS_OK) return;
  lent got = remember(value);
  api->header_at(exchange, side, 0, &name, &value);
  lent first = remember(name);
  change_headers(instance, exchange, side);
  tell_kept(instance, "header_get", &got);
  tell_kept(instance, "header_at", &first);
  api->header_get(exchange, side, text("x-lent"), &value);
  lent removed = remember(value);
  api->header_remove(exchange, side, text("x-lent"));
  change_headers(instance, exchange, side);
  tell_kept(instance, "header_remove", &removed);
}

static void read_body(void *instance, sluice_exchange *exchange, sluice_side side) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_bytes bytes = {0};
  if (api->body_get(exchange, side, &bytes) != SLUICE_STATUS_OK) return;
  lent first = remember(sluice_bytes_text(bytes));
  api->body_set(exchange, side, (sluice_bytes){(const uint8_t *)first.copy, 500});
  tell_kept(instance, "body_get", &first);
  api->body_get(exchange, side, &bytes);
  lent second = remember(sluice_bytes_text(bytes));
  api->body_set(exchange, side, bytes_of("other"));
  tell_kept(instance, "body_set", &second);
}

static void read_line(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_context context = SLUICE_SIZED(sluice_context);
  sluice_text value = {0};
  api->context(exchange, &context);
  lent path = remember(context.path);
  api->method_get(exchange, &value);
  lent method = remember(value);
  api->url_get(exchange, &value);
  lent url = remember(value);
  api->method_set(exchange, text("DELETE"));
  api->url_set(exchange, text("http://example.com/changed"));
  tell_kept(instance, "context", &path);
  tell_kept(instance, "method_get", &method);
  tell_kept(instance, "url_get", &url);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
#ifdef WITH_DOCUMENT
  api_of(instance)->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
#endif
  read_headers(instance, exchange, SLUICE_SIDE_REQUEST);
  read_body(instance, exchange, SLUICE_SIDE_REQUEST);
  read_line(instance, exchange);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
#ifdef WITH_DOCUMENT
  api->json(exchange, SLUICE_SIDE_RESPONSE, SLUICE_JSON_WRITE | SLUICE_JSON_BODY);
#endif
#ifdef RESPOND
  sluice_text value = {0};
  api->header_get(exchange, SLUICE_SIDE_RESPONSE, text("x-lent"), &value);
  lent header = remember(value);
  sluice_bytes bytes = {0};
  api->body_get(exchange, SLUICE_SIDE_RESPONSE, &bytes);
  lent body = remember(sluice_bytes_text(bytes));
  sluice_verdict verdict = api->respond(exchange, 200);
  tell_kept(instance, "respond-header", &header);
  tell_kept(instance, "respond-body", &body);
  return verdict;
#else
  (void)api;
  read_headers(instance, exchange, SLUICE_SIDE_RESPONSE);
  read_body(instance, exchange, SLUICE_SIDE_RESPONSE);
  return SLUICE_VERDICT_CONTINUE;
#endif
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .wants = SLUICE_WANTS_REQUEST_BODY | SLUICE_WANTS_RESPONSE_BODY,
                 .on_request = on_request, .on_response = on_response);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
