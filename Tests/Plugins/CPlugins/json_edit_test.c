#include "stub_host.h"
#include "testing.h"

static sluice_exchange exchange;

/// Applies the operations to a request body. Returns the body, or the verdict's error code if they fail.
static const char *edited(const char *operations, const char *json) {
  static char text[1024];
  char config[1024], body[1024];
  snprintf(config, sizeof config, "{\"request\": [%s]}", operations);
  snprintf(body, sizeof body, "{\"json\": %s}", json);
  void *instance = stub_create(config);
  EXPECT(instance);
  if (!instance) return stub_error();
  stub_begin(&exchange, "https://a.test/");
  stub_set_body(&exchange, SLUICE_SIDE_REQUEST, body);
  sluice_verdict verdict = stub_interceptor()->on_request(instance, &exchange);
  snprintf(text, sizeof text, "%s", verdict == SLUICE_VERDICT_CONTINUE ? stub_body(&exchange, SLUICE_SIDE_REQUEST) : exchange.error_code);
  stub_end(&exchange);
  stub_destroy(instance);
  return text;
}

static const char *refusal_of(const char *config) {
  void *instance = stub_create(config);
  EXPECT(!instance);
  stub_destroy(instance);
  return stub_error();
}

#define SET(path, value) "{\"op\": \"set\", \"path\": \"" path "\", \"value\": " value "}"
#define MAKE(path, value) "{\"op\": \"set\", \"path\": \"" path "\", \"value\": " value ", \"create\": true}"
#define REMOVE(path) "{\"op\": \"remove\", \"path\": \"" path "\"}"
#define RENAME(path, to) "{\"op\": \"rename\", \"path\": \"" path "\", \"to\": \"" to "\"}"

static void sets(void) {
  EXPECT_TEXT(edited(SET("/a", "1"), "{}"), "{\"a\":1}");
  EXPECT_TEXT(edited(SET("/a/b", "null"), "{\"a\":{\"b\":2}}"), "{\"a\":{\"b\":null}}");
  EXPECT_TEXT(edited(SET("/a/1", "9"), "{\"a\":[1,2,3]}"), "{\"a\":[1,9,3]}");
  EXPECT_TEXT(edited(SET("/a/-", "{\"k\":[]}"), "{\"a\":[1]}"), "{\"a\":[1,{\"k\":[]}]}");
  EXPECT_TEXT(edited(SET("", "[1]"), "{\"a\":1}"), "[1]");
  EXPECT_TEXT(edited(SET("/", "1"), "{}"), "{\"\":1}");
}

static void skips_missing(void) {
  EXPECT_TEXT(edited(SET("/a/b", "1"), "{}"), "{}");
  EXPECT_TEXT(edited(SET("/a/3", "1"), "{\"a\":[1]}"), "{\"a\":[1]}");
  EXPECT_TEXT(edited(SET("/a/01", "1"), "{\"a\":[1,2]}"), "{\"a\":[1,2]}");
  EXPECT_TEXT(edited(SET("/a/b", "1"), "{\"a\":\"text\"}"), "{\"a\":\"text\"}");
  EXPECT_TEXT(edited(REMOVE("/x"), "{\"a\":1}"), "{\"a\":1}");
  EXPECT_TEXT(edited(REMOVE("/a/-"), "{\"a\":[1]}"), "{\"a\":[1]}");
  EXPECT_TEXT(edited(RENAME("/0", "a"), "[1]"), "[1]");
  EXPECT_TEXT(edited(REMOVE("/18446744073709551617"), "[1,2]"), "[1,2]");
}

static void makes_parents(void) {
  EXPECT_TEXT(edited(MAKE("/a/b/c", "1"), "{}"), "{\"a\":{\"b\":{\"c\":1}}}");
  EXPECT_TEXT(edited(MAKE("/a/-", "1"), "{}"), "{\"a\":[1]}");
  EXPECT_TEXT(edited(MAKE("/a/-/b", "1"), "{\"a\":[]}"), "{\"a\":[{\"b\":1}]}");
  EXPECT_TEXT(edited(MAKE("/a/b", "1"), "{\"a\":5}"), "{\"a\":5}");
}

static void removes(void) {
  EXPECT_TEXT(edited(REMOVE("/a/b"), "{\"a\":{\"b\":1,\"c\":2}}"), "{\"a\":{\"c\":2}}");
  EXPECT_TEXT(edited(REMOVE("/0"), "[1,2]"), "[2]");
}

static void renames(void) {
  EXPECT_TEXT(edited(RENAME("/a/b", "c"), "{\"a\":{\"b\":1,\"c\":2}}"), "{\"a\":{\"c\":1}}");
  EXPECT_TEXT(edited(RENAME("/a", "a"), "{\"a\":1}"), "{\"a\":1}");
}

static void unescapes(void) {
  EXPECT_TEXT(edited(SET("/a~1b", "1"), "{}"), "{\"a/b\":1}");
  EXPECT_TEXT(edited(SET("/m~0n", "1"), "{}"), "{\"m~n\":1}");
  EXPECT_TEXT(edited(SET("/~01", "1"), "{}"), "{\"~1\":1}");
}

static void in_order(void) {
  EXPECT_TEXT(
      edited(SET("/a", "{}") "," SET("/a/b", "1") "," RENAME("/a", "z") "," REMOVE("/old"), "{\"old\":0}"),
      "{\"z\":{\"b\":1}}");
}

static void required_fails(void) {
  EXPECT_TEXT(
      edited("{\"op\": \"remove\", \"path\": \"/a/b\", \"required\": true}", "{}"), "json_edit");
  EXPECT(strstr(exchange.error_message, "operation 0 of \"request\", remove /a/b"));
}

/// Checks that a value is copied into each body. Otherwise, the second body would show a change of the first.
static void values_are_copied(void) {
  void *instance = stub_create("{\"request\": [" SET("/v", "{\"n\":[]}") "," SET("/v/n/-", "1") "]}");
  for (int i = 0; i < 2; i++) {
    stub_begin(&exchange, "https://a.test/");
    stub_set_body(&exchange, SLUICE_SIDE_REQUEST, "{\"json\": {}}");
    EXPECT(stub_interceptor()->on_request(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
    EXPECT_TEXT(stub_body(&exchange, SLUICE_SIDE_REQUEST), "{\"v\":{\"n\":[1]}}");
    stub_end(&exchange);
  }
  stub_destroy(instance);
}

static void config_can_go(void) {
  json_t *config = json_loads("{\"response\": [" SET("/a", "{\"b\":1}") "]}", 0, NULL);
  void *instance = NULL;
  sluice_error error = {sizeof error, 0, NULL};
  const sluice_plugin *plugin = sluice_plugin_entry(stub_host(), SLUICE_ABI_VERSION, &error);
  EXPECT(plugin->create(stub_host(), config, &instance, &error) == SLUICE_STATUS_OK);
  json_object_clear(config);
  json_decref(config);
  stub_begin(&exchange, "https://a.test/");
  stub_set_body(&exchange, SLUICE_SIDE_RESPONSE, "{\"json\": []}");
  EXPECT(stub_interceptor()->on_response(instance, &exchange) == SLUICE_VERDICT_CONTINUE);
  stub_end(&exchange);
  stub_destroy(instance);
}

static sluice_verdict verdict_on(const char *config, const char *body, bool *is_written) {
  void *instance = stub_create(config);
  stub_begin(&exchange, "https://a.test/");
  if (body) stub_set_body(&exchange, SLUICE_SIDE_RESPONSE, body);
  sluice_verdict verdict = stub_interceptor()->on_response(instance, &exchange);
  *is_written = exchange.is_written[SLUICE_SIDE_RESPONSE];
  stub_end(&exchange);
  stub_destroy(instance);
  return verdict;
}

static void leaves_non_json(void) {
  static const char *const bodies[] = {"{\"text\": \"x\"}", "{\"base64\": \"AA==\"}", "{\"file\": \"f\", \"bytes\": 9}"};
  bool is_written;
  for (size_t i = 0; i < 3; i++) {
    EXPECT(verdict_on("{\"response\": [" SET("/a", "1") "]}", bodies[i], &is_written) == SLUICE_VERDICT_CONTINUE);
    EXPECT(!is_written);
    EXPECT(
        verdict_on("{\"onNonJSON\": \"fail\", \"response\": [" SET("/a", "1") "]}", bodies[i], &is_written) ==
        SLUICE_VERDICT_FAIL);
    EXPECT_TEXT(exchange.error_code, "not_json");
  }
  EXPECT(
      verdict_on("{\"onNonJSON\": \"fail\", \"response\": [" SET("/a", "1") "]}", NULL, &is_written) ==
      SLUICE_VERDICT_CONTINUE);
}

/// Checks that each kind of operation fails on a body that cannot be parsed.
static void refuses_unreadable(void) {
  static const char *const operations[] = {SET("/a", "1"), REMOVE("/a"), RENAME("/a", "b")};
  static const char *const bodies[] = {
      "{\"text\": \"{\", \"unreadable\": \"why\"}", "{\"base64\": \"AA==\", \"unreadable\": \"why\"}",
      "{\"file\": \"f\", \"bytes\": 9, \"unreadable\": \"why\"}", "{\"text\": \"{\", \"unreadable\": 1}"};
  char config[256];
  bool is_written;
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < 4; j++) {
      snprintf(config, sizeof config, "{\"response\": [%s]}", operations[i]);
      EXPECT(verdict_on(config, bodies[j], &is_written) == SLUICE_VERDICT_FAIL);
      EXPECT_TEXT(exchange.error_code, "unreadable_json");
      EXPECT(strstr(exchange.error_message, j < 3 ? "response body has a JSON media type and cannot be edited: why" : "does not say"));
      snprintf(config, sizeof config, "{\"onUnreadable\": \"pass\", \"onNonJSON\": \"fail\", \"response\": [%s]}", operations[i]);
      EXPECT(verdict_on(config, bodies[j], &is_written) == SLUICE_VERDICT_CONTINUE);
      EXPECT(!is_written);
    }
  }
  EXPECT(verdict_on("{\"request\": [" REMOVE("/a") "]}", bodies[0], &is_written) == SLUICE_VERDICT_CONTINUE);
}

static void sides_are_apart(void) {
  bool is_written;
  EXPECT(verdict_on("{\"request\": [" SET("/a", "1") "]}", "{\"json\": {}}", &is_written) == SLUICE_VERDICT_CONTINUE);
  EXPECT(!is_written);
}

static void refuses(void) {
  EXPECT(strstr(refusal_of("{\"request\": {}}"), "\"request\": expected an array"));
  EXPECT(strstr(refusal_of("{\"request\": [" SET("/a", "1") ", 7]}"), "\"request\"[1]: expected an operation"));
  EXPECT(strstr(refusal_of("{\"response\": [{\"op\": \"move\", \"path\": \"/a\"}]}"), "\"response\"[0].\"op\""));
  EXPECT(strstr(refusal_of("{\"request\": [{\"op\": \"remove\"}]}"), ".\"path\": expected"));
  EXPECT(strstr(refusal_of("{\"request\": [" REMOVE("a") "]}"), "not a JSON Pointer"));
  EXPECT(strstr(refusal_of("{\"request\": [" REMOVE("/a~2") "]}"), "not a JSON Pointer"));
  EXPECT(strstr(refusal_of("{\"request\": [" REMOVE("/a~") "]}"), "not a JSON Pointer"));
  EXPECT(strstr(refusal_of("{\"request\": [" REMOVE("") "]}"), "whole body cannot be removed"));
  EXPECT(strstr(refusal_of("{\"request\": [" RENAME("", "x") "]}"), "whole body cannot be renamed"));
  EXPECT(strstr(refusal_of("{\"request\": [{\"op\": \"set\", \"path\": \"/a\"}]}"), ".\"value\": missing"));
  EXPECT(strstr(refusal_of("{\"request\": [{\"op\": \"rename\", \"path\": \"/a\"}]}"), ".\"to\": expected"));
  EXPECT(strstr(refusal_of("{\"request\": [{\"op\": \"remove\", \"path\": \"/a\", \"create\": true}]}"), "\"create\""));
  EXPECT(strstr(refusal_of("{\"request\": [{\"op\": \"remove\", \"path\": \"/a\", \"required\": 1}]}"), "\"required\""));
  EXPECT(strstr(refusal_of("{\"onNonJSON\": \"maybe\"}"), "\"onNonJSON\""));
  EXPECT(strstr(refusal_of("{\"onNonJSON\": null}"), "\"onNonJSON\""));
  EXPECT(strstr(refusal_of("{\"onUnreadable\": \"skip\"}"), "\"onUnreadable\""));
  EXPECT(strstr(refusal_of("{\"onUnreadable\": null}"), "\"onUnreadable\""));
}

static void survives_no_memory(void) {
  EXPECT(stub_survives_failing_allocations(
      "{\"request\": [" SET("/a/b", "{\"c\":[1,\"x\"]}") "," RENAME("/a", "b") "], \"response\": [" REMOVE("/a~1") "]}"));
}

static void edits_survive_no_memory(void) {
  void *instance = stub_create("{\"request\": [" MAKE("/a/b/-", "{\"c\":[1,\"x\"]}") "," RENAME("/a", "z") "]}");
  sluice_verdict verdict = SLUICE_VERDICT_FAIL;
  // The first allocations make the stub's own documents. The plugin must also survive the failure of these allocations.
  for (long count = 0; verdict == SLUICE_VERDICT_FAIL && count < 100; count++) {
    stub_begin(&exchange, "https://a.test/");
    stub_set_body(&exchange, SLUICE_SIDE_REQUEST, "{\"json\": {}}");
    stub_fail_allocation_after(count);
    verdict = stub_interceptor()->on_request(instance, &exchange);
    stub_fail_allocation_after(-1);
    // A document whose body could not be allocated looks like a message without a body.
    if (verdict == SLUICE_VERDICT_CONTINUE && strcmp(stub_body(&exchange, SLUICE_SIDE_REQUEST), "{}") == 0) verdict = SLUICE_VERDICT_FAIL;
    stub_end(&exchange);
  }
  EXPECT(verdict == SLUICE_VERDICT_CONTINUE);
  stub_destroy(instance);
}

static void describes_itself(void) { EXPECT(stub_describes_itself()); }

int main(void) {
  static const promise promises[] = {
      {"set adds, replaces and appends", sets},
      {"a body of a JSON media type that cannot be parsed fails unless the configuration says otherwise",
       refuses_unreadable},
      {"an operation is skipped if its place is missing", skips_missing},
      {"\"create\" adds missing objects on the path, and overwrites nothing", makes_parents},
      {"remove removes members and items", removes},
      {"rename keeps the value and replaces a member of the new name", renames},
      {"~0 and ~1 in a path are unescaped as in RFC 6901", unescapes},
      {"operations run in order", in_order},
      {"a missing place that is required fails, and the error names the operation's number", required_fails},
      {"a configured value is copied into each body", values_are_copied},
      {"the host can release the configuration after create", config_can_go},
      {"a body that is not JSON is left unchanged or fails, as configured", leaves_non_json},
      {"operations of one side do not change the other side", sides_are_apart},
      {"an error in the configuration names its place", refuses},
      {"create reports each failed allocation and leaks nothing", survives_no_memory},
      {"the table is complete, and the refusal of an older host names both revisions", describes_itself},
      {"an edit reports each failed allocation and leaks nothing", edits_survive_no_memory},
  };
  return keep_promises("json-edit", promises, sizeof promises / sizeof promises[0]);
}
