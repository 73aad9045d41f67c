// Sets a header whose value is configured, and has self-test cases for it. VALUE is the value that a case expects, RUN
// is the answer of the second case, DOCUMENT is the request of the first case, RESPONSE the response that it expects,
// and CONFIGURATION its configuration.
#include "../stage.h"

#ifndef VALUE
#define VALUE "blue"
#endif

#ifndef RUN
#define RUN SLUICE_STATUS_OK
#endif

#ifndef DOCUMENT
#define DOCUMENT "{\"url\": \"http://example.com/a\", \"headers\": {\"accept\": \"*/*\"}}"
#endif

#ifndef RESPONSE
#define RESPONSE "{\"status\": 201, \"body\": {\"text\": \"ok\"}}"
#endif

#ifndef CONFIGURATION
#define CONFIGURATION "{\"color\": \"blue\"}"
#endif

struct painter {
  const sluice_host *host;
  char color[32];
};

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  if (json_object_get(config, "colour")) return sluice_error_set(error, "colour is spelled color");
  const char *color = json_string_value(json_object_get(config, "color"));
  struct painter *painter = calloc(1, sizeof *painter);
  painter->host = host;
  snprintf(painter->color, sizeof painter->color, "%s", color ? color : "red");
  *instance = painter;
  return SLUICE_STATUS_OK;
}

static void resume(void *context) {
  struct painter *painter = ((void **)context)[0];
  sluice_token *token = ((void **)context)[1];
  sluice_exchange *exchange = painter->host->enter(painter->host, *token);
  if (exchange) sluice_set_request_header(painter->host, exchange, "x-color", painter->color);
  painter->host->resume(painter->host, *token, SLUICE_VERDICT_CONTINUE);
  free(token);
  free(context);
}

/// The stage suspends, so that the self-test cases must wait.
static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  struct painter *painter = instance;
  sluice_context facts = SLUICE_SIZED(sluice_context);
  painter->host->exchange->context(exchange, &facts);
  sluice_token *token = malloc(sizeof *token);
  void **context = malloc(2 * sizeof *context);
  context[0] = painter, context[1] = token;
  painter->host->exchange->suspend(exchange, token);
  painter->host->post(painter->host, facts.loop, resume, context);
  return SLUICE_VERDICT_SUSPENDED;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  json_t *document = ((struct painter *)instance)->host->exchange->json(exchange, SLUICE_SIDE_RESPONSE, SLUICE_JSON_WRITE);
  json_object_set_new(document, "status", json_integer(201));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_status run(void *instance, uint32_t index, sluice_error *error) {
  (void)instance;
  if (index != 1 || RUN == SLUICE_STATUS_OK) return SLUICE_STATUS_OK;
  return sluice_error_set(error, "the paint is dry");
}

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor =
      SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);
  static const sluice_selftest_case paints =
      SLUICE_TABLE(sluice_selftest_case, .name = "paints", .description = "A request gets the color.",
                   .request = DOCUMENT,
                   .expected_request = "{\"method\": \"GET\", \"headers\": {\"accept\": \"*/*\", \"x-color\": \"" VALUE "\"}}",
                   .response = "{\"status\": 200, \"body\": {\"text\": \"ok\"}}",
                   .expected_response = RESPONSE,
                   .config = CONFIGURATION);
  static const sluice_selftest_case dries =
      SLUICE_TABLE(sluice_selftest_case, .name = "dries", .description = "The paint dries.");
  static const sluice_selftest_case *const cases[] = {&paints, &dries};
  static const sluice_selftest selftest = SLUICE_TABLE(sluice_selftest, .count = 2, .cases = cases, .run = run);
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  return strcmp(id, SLUICE_SELFTEST_ID) == 0 ? (const void *)&selftest : NULL;
}

FIXTURE_PLUGIN(.create = create, .destroy = free, .extension = extension);
SLUICE_REQUIRES(suspend);
SLUICE_REQUIRES(document);
