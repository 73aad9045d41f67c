// Sets fields that must not be set.
#include "../stage.h"

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
#define SET(name, value) api->header_set(exchange, SLUICE_SIDE_REQUEST, text(name), text(value))
  tell(instance, "crlf", SET("x-a", "b\r\nx-evil: 1"));
  tell(instance, "name", SET("x a", "b"));
  tell(instance, "empty", SET("", "b"));
  tell(instance, "nul", api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-a"), (sluice_text){"a\0b", 3}));
  tell(instance, "null", api->header_set(exchange, SLUICE_SIDE_REQUEST, (sluice_text){NULL, 3}, text("b")));
  tell(instance, "hop", SET("Transfer-Encoding", "chunked"));
  tell(instance, "add-hop", api->header_add(exchange, SLUICE_SIDE_REQUEST, text("connection"), text("close")));
  tell(instance, "side", api->header_set(exchange, 7, text("x-a"), text("b")));
  tell(instance, "response", api->header_set(exchange, SLUICE_SIDE_RESPONSE, text("x-a"), text("b")));
  tell(instance, "url", api->url_set(exchange, text("ftp://example.com/")));
  tell(instance, "method", api->method_set(exchange, text("A B")));
  tell(instance, "connect", api->method_set(exchange, text("CONNECT")));
  tell(instance, "bad-host", SET("Host", "a b"));
  tell(instance, "add-bad-host", api->header_add(exchange, SLUICE_SIDE_REQUEST, text("host"), text("a@b")));
  tell(instance, "host", SET("Host", "a.example:81"));
  tell(instance, "second-host", api->header_add(exchange, SLUICE_SIDE_REQUEST, text("hOST"), text("a.example:81")));
  tell(instance, "status", api->status_set(exchange, 200));
  tell(instance, "write", api->body_write(exchange, SLUICE_SIDE_RESPONSE, bytes_of("x")));
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table = SLUICE_TABLE(sluice_interceptor, .on_request = on_request);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
