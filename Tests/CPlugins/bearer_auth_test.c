#define _DEFAULT_SOURCE
#include <stdlib.h>

#include "stub_host.h"
#include "testing.h"

#define CONFIG "{\"token\": \"secret\", \"hosts\": [\"api.example.com\"]}"

/// The Authorization that a request to a URL leaves with, empty for none.
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
  EXPECT_TEXT(sent_to("HTTPS://API.Example.COM:8443", CONFIG), "Bearer secret");
  EXPECT_TEXT(sent_to("http://user:pass@api.example.com?q", CONFIG), "Bearer secret");
}

static void spares_others(void) {
  static const char *const urls[] = {
      "https://example.com/",
      "https://evil.example/api.example.com",
      "https://evil.example/?u=https://api.example.com/",
      "https://evil.example#@api.example.com",
      "https://evil.example?@api.example.com",
      "https://api.example.com@evil.example/",
      "https://api.example.com:443@evil.example/",
      "https://evil.example\\@api.example.com/",
      "https://api.example.com.evil.example/",
      "https://xapi.example.com/",
      "https://api.example.com:99999/",
      "ftp://api.example.com/",
      "api.example.com",
      "",
  };
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
    EXPECT_TEXT(sent_to(urls[i], CONFIG), "");
  }
}

static void matches_suffix(void) {
  const char *config = "{\"token\": \"t\", \"hosts\": [\"*.example.com\"]}";
  EXPECT_TEXT(sent_to("https://a.example.com/", config), "Bearer t");
  EXPECT_TEXT(sent_to("https://a.b.example.com/", config), "Bearer t");
  EXPECT_TEXT(sent_to("https://example.com/", config), "");
  EXPECT_TEXT(sent_to("https://.example.com/", config), "");
  EXPECT_TEXT(sent_to("https://badexample.com/", config), "");
}

static void matches_scheme_and_port(void) {
  const char *config = "{\"token\": \"t\", \"hosts\": [\"https://a.test\", \"b.test:8080\", \"[::1]:9000\"]}";
  EXPECT_TEXT(sent_to("https://a.test/", config), "Bearer t");
  EXPECT_TEXT(sent_to("http://a.test/", config), "");
  EXPECT_TEXT(sent_to("http://b.test:8080/", config), "Bearer t");
  EXPECT_TEXT(sent_to("http://b.test/", config), "");
  EXPECT_TEXT(sent_to("http://[::1]:9000/", config), "Bearer t");
  EXPECT_TEXT(sent_to("http://[::1]/", config), "");
  config = "{\"token\": \"t\", \"hosts\": [\"c.test:443\", \"d.test:80\"]}";
  EXPECT_TEXT(sent_to("https://c.test/", config), "Bearer t");
  EXPECT_TEXT(sent_to("http://c.test/", config), "");
  EXPECT_TEXT(sent_to("http://d.test/", config), "Bearer t");
}

/// Whether a list of one host allows a URL.
static bool allows(const char *host, const char *url) {
  char config[256];
  snprintf(config, sizeof config, "{\"token\": \"t\", \"hosts\": [\"%s\"]}", host);
  return strcmp(sent_to(url, config), "Bearer t") == 0;
}

static void compares_addresses_by_value(void) {
  static const char *const same[] = {"http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[0000::0001]:81/"};
  static const char *const other[] = {"http://[::2]/", "http://[::]/", "http://127.0.0.1/", "http://localhost/",
                                      "http://[::ffff:127.0.0.1]/", "http://[::1%25lo]/", "http://[::1%lo]/"};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    EXPECT(allows("[::1]", same[i]));
    EXPECT(allows("[0:0:0:0:0:0:0:1]", same[i]));
  }
  for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) EXPECT(!allows("[::1]", other[i]));
  EXPECT(allows("127.0.0.1", "http://[::ffff:127.0.0.1]/"));
  EXPECT(allows("127.0.0.1", "http://[::FFFF:7f00:1]/"));
  EXPECT(allows("[::ffff:7f00:1]", "http://127.0.0.1/"));
  EXPECT(!allows("127.0.0.1", "http://[::127.0.0.1]/"));
  EXPECT(!allows("127.0.0.1", "http://127.0.0.10/"));
  EXPECT(!allows("127.0.0.1", "http://127.1/"));
  EXPECT(!allows("127.0.0.1", "http://0x7f000001/"));
}

static void final_dot_makes_no_difference(void) {
  EXPECT(allows("api.example.com", "https://API.example.com./"));
  EXPECT(allows("api.example.com.", "https://api.example.com/"));
  EXPECT(allows("*.example.com", "https://api.example.com.:81/"));
  EXPECT(allows("*.example.com.", "https://api.example.com/"));
  EXPECT(allows("127.0.0.1.", "http://127.0.0.1./"));
  EXPECT(!allows("*.example.com.", "https://example.com./"));
  EXPECT(!allows("api.example.com", "https://api.example.com../"));
  EXPECT(allows("XN--Mnchen-3ya.example", "https://xn--mnchen-3ya.example/"));
}

static void star_is_everywhere(void) {
  EXPECT(allows("*:8080", "http://any.test:8080/"));
  EXPECT(allows("https://*:8443", "https://[::1]:8443/"));
  EXPECT(!allows("*:8080", "http://any.test/"));
  EXPECT(!allows("https://*:8443", "http://any.test:8443/"));
  EXPECT_TEXT(sent_to("http://any.test/", "{\"token\": \"t\", \"hosts\": [\"*\"]}"), "Bearer t");
  EXPECT_TEXT(sent_to("http://any.test/", "{\"token\": \"t\", \"hosts\": [\"https://*\"]}"), "");
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

static void refuses_hosts(void) {
  static const char *const hosts[] = {"", "*.", "*.*.com", "a.*", "a/b", "a@b", "ftp://a", "a:0", "a:", "a:65536", "*:",
                                      "*:0", "*:x", "*:65536", "*.:80", "*.1.2.3.4", "*.0.0.1", "*.[::1]", "a b", "..",
                                      "*..com", "https://", "[::1", "[::1]x", "[]", "[1.2.3.4]", "[fe80::1%eth0]", "::1",
                                      "a:80:90", "127.1", "0x7f.0.0.1", "1.2.3.04", "m\u00fcnchen.example"};
  for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
    char config[128];
    snprintf(config, sizeof config, "{\"token\": \"t\", \"hosts\": [\"%s\"]}", hosts[i]);
    EXPECT(strstr(refusal_of(config), "\"hosts\"[0]"));
  }
  EXPECT(strstr(refusal_of("{\"token\": \"t\", \"hosts\": [\"m\u00fcnchen.example\"]}"), "xn-- form"));
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
      {"a URL that only looks like a listed host gets nothing", spares_others},
      {"a suffix matches every name below it, and not itself", matches_suffix},
      {"a scheme and a port that are given must match", matches_scheme_and_port},
      {"an address is compared by value", compares_addresses_by_value},
      {"neither case nor a final dot makes another name", final_dot_makes_no_difference},
      {"a star allows every host, or every host at a port", star_is_everywhere},
      {"the header is marked as a secret", marks_as_secret},
      {"a header that is there wins, also an empty one, unless overwriting is asked for", keeps_existing},
      {"a token that cannot be marked does not stay", unmarked_token_does_not_stay},
      {"header and scheme can be chosen", scheme_and_header},
      {"the token can come from the environment", reads_environment},
      {"what is wrong in the configuration is named by its key", refuses_by_key},
      {"a malformed host is refused", refuses_hosts},
      {"a control character in the token is refused", refuses_controls_in_token},
      {"no message shows the token", messages_hide_token},
      {"create survives each allocation failing in turn", survives_no_memory},
      {"the table is complete, and an older host is refused with both revisions", describes_itself},
  };
  return keep_promises("bearer-auth", promises, sizeof promises / sizeof promises[0]);
}
