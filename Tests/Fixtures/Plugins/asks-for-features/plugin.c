// Uses the functions of each feature that a host can have, and logs their answers. With REQUIRES=NAME it requires that
// feature.
#define _POSIX_C_SOURCE 200809L

#include <sluice/draft/want_body.h>

#include "../stage.h"

#ifdef REQUIRES
#define REQUIRE(name) SLUICE_REQUIRES(name)
REQUIRE(REQUIRES);
__attribute__((constructor)) static void run_at_load(void) { setenv("SLUICE_REFUSED_FIXTURE_RAN", "yes", 1); }
#endif

static void nothing(void *context) { (void)context; }

static void ask_for_tables(void *instance) {
  const sluice_host *host = host_of(instance);
  const sluice_timers *timers = host->extension(host, SLUICE_TIMERS_ID);
  tell(instance, "timers", timers != NULL);
  tell(instance, "callout", host->extension(host, SLUICE_CALLOUT_ID) != NULL);
  tell(instance, "metrics", host->extension(host, SLUICE_METRICS_ID) != NULL);
  tell(instance, "values", host->extension(host, SLUICE_VALUES_ID) != NULL);
  tell(instance, "completions", host->extension(host, SLUICE_COMPLETIONS_ID) != NULL);
  if (timers) tell(instance, "schedule", timers->schedule(host, text("work"), 1000000000, 1000000000, NULL));
}

static void ask_for_bodies(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  const sluice_want_body *wanting = host->extension(host, SLUICE_WANT_BODY_ID);
  sluice_bytes body = {0};
  tell(instance, "body-get", api_of(instance)->body_get(exchange, SLUICE_SIDE_REQUEST, &body));
  tell(instance, "body-set", api_of(instance)->body_set(exchange, SLUICE_SIDE_REQUEST, bytes_of("other")));
  tell(instance, "body-write", api_of(instance)->body_write(exchange, SLUICE_SIDE_REQUEST, bytes_of("piece")));
  tell(instance, "want-body", wanting->want_body(exchange, SLUICE_SIDE_REQUEST));
  tell(instance, "want-response", wanting->want_body(exchange, SLUICE_SIDE_RESPONSE));
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  const sluice_exchange_api *api = api_of(instance);
  sluice_token token = {0};
  tell(instance, "features", host->features);
  ask_for_tables(instance);
  tell(instance, "json", api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_READ) != NULL);
  tell(instance, "json-body", api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_READ | SLUICE_JSON_BODY) != NULL);
  ask_for_bodies(instance, exchange);
  tell(instance, "method", api->method_set(exchange, text("PUT")));
  tell(instance, "url", api->url_set(exchange, text("http://example.com/other")));
  tell(instance, "post", host->post(host, 0, nothing, NULL));
  tell(instance, "resume", host->resume(host, token, SLUICE_VERDICT_CONTINUE));
  tell(instance, "suspend", api->suspend(exchange, &token));
  tell(instance, "retry", api->retry(exchange, 0));
  tell(instance, "respond", api->respond(exchange, 204));
  // The call continues as if the plugin had called none of these functions.
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  (void)exchange;
  tell(instance, "issue", 1);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  sluice_bytes body = {0};
  tell(instance, "response", api_of(instance)->status_get(exchange));
  tell(instance, "response-body", api_of(instance)->body_get(exchange, SLUICE_SIDE_RESPONSE, &body));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes bytes) {
  (void)exchange, (void)bytes;
  tell(instance, "chunk", side);
  return SLUICE_BODY_VERDICT_PASS;
}

static void on_schedule(void *instance, sluice_text name, sluice_completion completion) {
  (void)instance, (void)name, (void)completion;
}

static const sluice_interceptor interceptor = SLUICE_TABLE(
    sluice_interceptor, .wants = SLUICE_WANTS_RESPONSE_BODY, .on_request = on_request, .on_issue = on_issue,
    .on_response = on_response);
static const sluice_body body = SLUICE_TABLE(sluice_body, .sides = SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk);
static const sluice_notifications work = SLUICE_TABLE(sluice_notifications, .on_schedule = on_schedule);

SLUICE_EXTENSIONS(
    extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_BODY_ID, &body}, {SLUICE_NOTIFICATIONS_ID, &work});

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
