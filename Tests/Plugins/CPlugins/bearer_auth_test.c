#define _DEFAULT_SOURCE
#include <stdlib.h>

#include "stub_host.h"
#include "testing.h"

#define CONFIG "{\"token\": \"secret\", \"hosts\": [\"api.example.com\"]}"

/// Returns the `Authorization` header of a request to `url` after the issue stage, or an empty text if there is none.
static const char *sent_to(const char *url, const char *config) {
  static char value[256];
  sluice_exchange exchange;
  void *instance = stub_create(config);
  stub_begin(&exchange, url);
  EXPECT(instance && stub_interceptor()->on_issue(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
  const char *found = stub_values(&exchange, SLUICE_SIDE_REQUEST, "authorization");
  snprintf(value, sizeof value, "%s", found ? found : "");
  stub_end(&exchange);
  stub_destroy(instance);
  return value;
}

static const char *refusal_of(const char *config) {
  void *instance = stub_create(config);
  EXPECT(!instance);
  stub_destroy(instance);
  return stub_error();
}

static void adds_to_listed_host(void) {
  EXPECT_TEXT(sent_to("https://api.example.com/v1", CONFIG), "Bearer secret");
  EXPECT_TEXT(sent_to("https://other.example/", "{\"token\": \"t\", \"hosts\": [\"api.example.com\", \"*\"]}"), "Bearer t");
}

static void spares_others(void) {
  EXPECT_TEXT(sent_to("https://evil.example/api.example.com", CONFIG), "");
  EXPECT_TEXT(sent_to("", CONFIG), "");
}

static void fails_unchecked_url(void) {
  sluice_exchange exchange;
  void *instance = stub_create(CONFIG);
  stub_begin(&exchange, "https://api.example.com/");
  exchange.match_refusal = SLUICE_STATUS_STALE;
  EXPECT(stub_interceptor()->on_issue(instance, &exchange) == SLUICE_VERDICT_FAIL);
  EXPECT_TEXT(exchange.error_code, "auth_url");
  EXPECT(!stub_values(&exchange, SLUICE_SIDE_REQUEST, "authorization"));
  stub_destroy(instance);
}

static void refuses_older_host(void) {
  stub_hide_extensions(true);
  EXPECT(strstr(refusal_of(CONFIG), "sluice.origins/1"));
  stub_hide_extensions(false);
}

static void marks_as_secret(void) {
  sluice_exchange exchange;
  void *instance = stub_create(CONFIG);
  stub_begin(&exchange, "https://api.example.com/");
  EXPECT(stub_interceptor()->on_request(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
  EXPECT(stub_marks(&exchange, SLUICE_SIDE_REQUEST, "authorization") == SLUICE_HEADER_SENSITIVE);
  stub_end(&exchange);
  stub_destroy(instance);
}

static void keeps_existing(void) {
  static const char *const configs[] = {
      CONFIG, "{\"token\": \"secret\", \"hosts\": [\"*\"], \"overwrite\": true}"};
  for (int overwrites = 0; overwrites < 2; overwrites++) {
    sluice_exchange exchange;
    void *instance = stub_create(configs[overwrites]);
    stub_begin(&exchange, "https://api.example.com/");
    stub_add(&exchange, SLUICE_SIDE_REQUEST, "authorization", "");
    EXPECT(stub_interceptor()->on_issue(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
    EXPECT_TEXT(stub_values(&exchange, SLUICE_SIDE_REQUEST, "Authorization"), overwrites ? "Bearer secret" : "");
    stub_end(&exchange);
    stub_destroy(instance);
  }
}

static void unmarked_token_does_not_stay(void) {
  sluice_exchange exchange;
  void *instance = stub_create(CONFIG);
  stub_begin(&exchange, "https://api.example.com/");
  exchange.mark_refusal = SLUICE_STATUS_UNSUPPORTED;
  EXPECT(stub_interceptor()->on_issue(instance, &exchange) == SLUICE_VERDICT_FAIL);
  EXPECT(!stub_values(&exchange, SLUICE_SIDE_REQUEST, "authorization"));
  stub_begin(&exchange, "https://api.example.com/");
  exchange.refusal = SLUICE_STATUS_REFUSED;
  EXPECT(stub_interceptor()->on_issue(instance, &exchange) == SLUICE_VERDICT_FAIL);
  EXPECT_TEXT(exchange.error_code, "auth_header");
  stub_destroy(instance);
}

static void scheme_and_header(void) {
  sluice_exchange exchange;
  void *instance = stub_create("{\"token\": \"k\", \"hosts\": [\"*\"], \"header\": \"X-API-Key\", \"scheme\": \"\"}");
  stub_begin(&exchange, "https://a.test/");
  EXPECT(instance && stub_interceptor()->on_request(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
  EXPECT_TEXT(stub_values(&exchange, SLUICE_SIDE_REQUEST, "x-api-key"), "k");
  stub_destroy(instance);
}

static void reads_environment(void) {
  const char *config = "{\"environment\": \"BEARER_AUTH_TEST\", \"hosts\": [\"*\"]}";
  setenv("BEARER_AUTH_TEST", "from-env", 1);
  EXPECT_TEXT(sent_to("https://a.test/", config), "Bearer from-env");
  unsetenv("BEARER_AUTH_TEST");
  EXPECT(strstr(refusal_of(config), "BEARER_AUTH_TEST is not set"));
}

static void refuses_by_key(void) {
  EXPECT(strstr(refusal_of("{\"hosts\": [\"*\"]}"), "either \"token\" or \"environment\""));
  EXPECT(strstr(refusal_of("{\"token\": \"t\", \"environment\": \"E\", \"hosts\": [\"*\"]}"), "either"));
  EXPECT(strstr(refusal_of("{\"token\": \"\", \"hosts\": [\"*\"]}"), "empty"));
  EXPECT(strstr(refusal_of("{\"token\": 1, \"hosts\": [\"*\"]}"), "\"token\": expected a string"));
  EXPECT(strstr(refusal_of("{\"token\": \"t\"}"), "\"hosts\""));
  EXPECT(strstr(refusal_of("{\"token\": \"t\", \"hosts\": []}"), "\"hosts\""));
  EXPECT(strstr(refusal_of("{\"token\": \"t\", \"hosts\": [\"a.test\", 1]}"), "\"hosts\"[1]"));
  EXPECT(strstr(refusal_of("{\"token\": \"t\", \"hosts\": [\"*\"], \"header\": \"a b\"}"), "\"header\""));
  EXPECT(strstr(refusal_of("{\"token\": \"t\", \"hosts\": [\"*\"], \"header\": \"Proxy-Authorization\"}"), "\"header\""));
  EXPECT(strstr(refusal_of("{\"token\": \"t\", \"hosts\": [\"*\"], \"scheme\": \"a b\"}"), "\"scheme\""));
  EXPECT(strstr(refusal_of("{\"token\": \"t\", \"hosts\": [\"*\"], \"overwrite\": 1}"), "\"overwrite\""));
}

static void refuses_controls_in_token(void) {
  static const char *const tokens[] = {"a\\r\\nX: y", "a\\n", "\\ta", "a b", "a\\u007f", "\\u00e9"};
  for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
    char config[128];
    snprintf(config, sizeof config, "{\"token\": \"%s\", \"hosts\": [\"*\"]}", tokens[i]);
    EXPECT(strstr(refusal_of(config), "visible ASCII"));
  }
}

static void messages_hide_token(void) {
  EXPECT(!strstr(refusal_of("{\"token\": \"hush\\n\", \"hosts\": [\"*\"]}"), "hush"));
}

static void survives_no_memory(void) {
  EXPECT(stub_survives_failing_allocations("{\"token\": \"t\", \"hosts\": [\"a.test\", \"*.b.test\"]}"));
}

static void describes_itself(void) { EXPECT(stub_describes_itself()); }

int main(void) {
  static const promise promises[] = {
      {"a listed host gets the token", adds_to_listed_host},
      {"a host that is not listed gets nothing", spares_others},
      {"a request fails if the host could not compare its URL", fails_unchecked_url},
      {"create refuses a host that cannot compare hosts", refuses_older_host},
      {"the header is marked as a secret", marks_as_secret},
      {"an existing header is kept, even an empty one, unless \"overwrite\" is set", keeps_existing},
      {"a token that cannot be marked as a secret is removed again", unmarked_token_does_not_stay},
      {"header and scheme can be configured", scheme_and_header},
      {"the token can come from an environment variable", reads_environment},
      {"an error in the configuration names its key", refuses_by_key},
      {"a control character in the token is refused", refuses_controls_in_token},
      {"no message shows the token", messages_hide_token},
      {"create reports each failed allocation and leaks nothing", survives_no_memory},
      {"the table is complete, and the refusal of an older host names both revisions", describes_itself},
  };
  return keep_promises("bearer-auth", promises, sizeof promises / sizeof promises[0]);
}
