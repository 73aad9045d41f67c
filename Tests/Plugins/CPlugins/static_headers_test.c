#include "stub_host.h"
#include "testing.h"

/// Returns the values of `x-a` after the request stage, or "none". With `has_old`, the request already has the value
/// `old`.
static const char *after(const char *config, bool has_old) {
  static char values[256];
  sluice_exchange exchange;
  void *instance = stub_create(config);
  stub_begin(&exchange, "https://a.test/");
  if (has_old) stub_add(&exchange, SLUICE_SIDE_REQUEST, "X-A", "old");
  EXPECT(instance && stub_interceptor()->on_request(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
  const char *found = stub_values(&exchange, SLUICE_SIDE_REQUEST, "x-a");
  snprintf(values, sizeof values, "%s", found ? found : "none");
  stub_destroy(instance);
  return values;
}

static const char *refusal_of(const char *config) {
  void *instance = stub_create(config);
  EXPECT(!instance);
  stub_destroy(instance);
  return stub_error();
}

static void modes(void) {
  EXPECT_TEXT(after("{\"request\": {\"x-a\": \"new\"}}", true), "new");
  EXPECT_TEXT(after("{\"request\": {\"x-a\": \"new\"}, \"mode\": \"set\"}", false), "new");
  EXPECT_TEXT(after("{\"request\": {\"x-a\": \"new\"}, \"mode\": \"add\"}", true), "old|new");
  EXPECT_TEXT(after("{\"request\": {\"x-a\": \"new\"}, \"mode\": \"default\"}", true), "old");
  EXPECT_TEXT(after("{\"request\": {\"x-a\": \"new\"}, \"mode\": \"default\"}", false), "new");
}

static void arrays(void) {
  EXPECT_TEXT(after("{\"request\": {\"x-a\": [\"1\", \"2\"]}}", true), "1|2");
  EXPECT_TEXT(after("{\"request\": {\"x-a\": [\"1\", \"2\"]}, \"mode\": \"add\"}", true), "old|1|2");
  EXPECT_TEXT(after("{\"request\": {\"x-a\": [\"1\", \"2\"]}, \"mode\": \"default\"}", false), "1|2");
}

static void removal(void) {
  EXPECT_TEXT(after("{\"request\": {\"x-a\": null}}", true), "none");
  EXPECT_TEXT(after("{\"request\": {\"x-a\": null}, \"mode\": \"default\"}", true), "none");
  EXPECT_TEXT(after("{\"request\": {\"x-a\": null}}", false), "none");
}

static void sides_are_apart(void) {
  sluice_exchange exchange;
  void *instance = stub_create("{\"response\": {\"server\": null, \"x-a\": \"r\"}}");
  stub_begin(&exchange, "https://a.test/");
  stub_add(&exchange, SLUICE_SIDE_RESPONSE, "Server", "nginx");
  EXPECT(stub_interceptor()->on_request(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
  EXPECT(stub_interceptor()->on_response(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
  EXPECT(!stub_values(&exchange, SLUICE_SIDE_REQUEST, "x-a"));
  EXPECT_TEXT(stub_values(&exchange, SLUICE_SIDE_RESPONSE, "x-a"), "r");
  EXPECT(!stub_values(&exchange, SLUICE_SIDE_RESPONSE, "server"));
  stub_destroy(instance);
}

static void a_refusal_fails(void) {
  sluice_exchange exchange;
  void *instance = stub_create("{\"request\": {\"x-a\": \"v\"}}");
  stub_begin(&exchange, "https://a.test/");
  exchange.refusal = SLUICE_STATUS_REFUSED;
  EXPECT(stub_interceptor()->on_issue(instance, &exchange) == SLUICE_VERDICT_FAIL);
  EXPECT(strstr(exchange.error_message, "\"x-a\""));
  stub_destroy(instance);
}

static void refuses(void) {
  EXPECT(strstr(refusal_of("{\"request\": []}"), "\"request\": expected an object"));
  EXPECT(strstr(refusal_of("{\"request\": {\"a b\": \"v\"}}"), "not the name of a header"));
  EXPECT(strstr(refusal_of("{\"request\": {\"\": \"v\"}}"), "not the name of a header"));
  EXPECT(strstr(refusal_of("{\"response\": {\"x-a\": 1}}"), "\"response\".\"x-a\": expected a string"));
  EXPECT(strstr(refusal_of("{\"response\": {\"x-a\": [\"v\", null]}}"), "expected a string"));
  EXPECT(strstr(refusal_of("{\"request\": {\"x-a\": []}}"), "the array is empty"));
  EXPECT(strstr(refusal_of("{\"request\": {\"x-a\": \"a\\r\\nb: c\"}}"), "control character"));
  EXPECT(strstr(refusal_of("{\"request\": {\"x-a\": \" a\"}}"), "space"));
  EXPECT(strstr(refusal_of("{\"request\": {\"Connection\": \"close\"}}"), "belongs to the connection"));
  EXPECT(strstr(refusal_of("{\"request\": {\"TE\": \"trailers\"}}"), "belongs to the connection"));
  EXPECT(strstr(refusal_of("{\"request\": {\"Content-Length\": \"0\"}}"), "frames the body"));
  EXPECT(strstr(refusal_of("{\"request\": {\"X-A\": \"1\", \"x-a\": \"2\"}}"), "listed twice"));
  EXPECT(strstr(refusal_of("{\"mode\": \"replace\"}"), "\"mode\""));
  EXPECT(strstr(refusal_of("{\"mode\": 1}"), "\"mode\""));
}

static void survives_no_memory(void) {
  EXPECT(stub_survives_failing_allocations(
      "{\"request\": {\"x-a\": [\"1\", \"2\"], \"x-b\": null}, \"response\": {\"x-c\": \"3\"}, \"mode\": \"add\"}"));
}

static void describes_itself(void) { EXPECT(stub_describes_itself()); }

int main(void) {
  static const promise promises[] = {
      {"set replaces a header, add adds one, default keeps an existing one", modes},
      {"an array gives one field for each value", arrays},
      {"null removes in every mode", removal},
      {"headers of one side do not change the other side", sides_are_apart},
      {"a header that the host refuses makes the stage fail, and the error names it", a_refusal_fails},
      {"an error in the configuration names its key", refuses},
      {"create reports each failed allocation and leaks nothing", survives_no_memory},
      {"the table is complete, and the refusal of an older host names both revisions", describes_itself},
  };
  return keep_promises("static-headers", promises, sizeof promises / sizeof promises[0]);
}
