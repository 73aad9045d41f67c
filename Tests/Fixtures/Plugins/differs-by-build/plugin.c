// Stamps BUILD into requests and responses, and sends SECRET. Builds differ only in these two values. For a request
// with the header x-trap it executes TRAP. A request with x-varies gets a header with the time of the system, and
// one with x-dated a header with the wall clock of the host. A request with x-late is resumed by a posted function. With RETRIES a 503 is retried. A Bearer challenge is answered. With TIMEOUT_NS the
// transaction gets this limit.
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "../stage.h"

#ifndef BUILD
#define BUILD "1"
#endif
#ifndef SECRET
#define SECRET "Bearer one"
#endif
#ifndef TRAP
#define TRAP (void)0
#endif
#ifndef RETRIES
#define RETRIES 0
#endif
#ifndef TIMEOUT_NS
#define TIMEOUT_NS 0
#endif
#ifndef BODY
#define BODY ""
#endif

struct work {
  void *instance;
  sluice_token token;
};

static void go_on(void *context) {
  struct work *work = context;
  host_of(work->instance)->resume(host_of(work->instance), work->token, SLUICE_VERDICT_CONTINUE);
  free(work);
}

static int asks(void *instance, sluice_exchange *exchange, const char *header) {
  return sluice_request_header(host_of(instance), exchange, header).data != NULL;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-build"), text(BUILD));
  api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-api-key"), text(SECRET));
  if (TIMEOUT_NS) api->limit_set(exchange, SLUICE_LIMIT_TIMEOUT_NS, TIMEOUT_NS);
  if (asks(instance, exchange, "x-trap")) TRAP;
  if (asks(instance, exchange, "x-varies")) {
    struct timespec now;
    char line[64];
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(line, sizeof line, "%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
    api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-now"), text(line));
  }
  if (asks(instance, exchange, "x-dated")) {
    char line[32];
    snprintf(line, sizeof line, "%llu", (unsigned long long)sluice_wall_clock_ns(host_of(instance)));
    api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-date"), text(line));
  }
  if (!asks(instance, exchange, "x-late")) return SLUICE_VERDICT_CONTINUE;
  struct work *work = malloc(sizeof *work);
  work->instance = instance;
  api->suspend(exchange, &work->token);
  host_of(instance)->post(host_of(instance), 0, go_on, work);
  return SLUICE_VERDICT_SUSPENDED;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  return api_of(instance)->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-hop"), text("issued")) == SLUICE_STATUS_OK
             ? SLUICE_VERDICT_CONTINUE
             : SLUICE_VERDICT_FAIL;
}

static sluice_verdict on_challenge(void *instance, sluice_exchange *exchange, const sluice_challenge *challenge) {
  if (challenge->answered > 0 || !sluice_text_equals(challenge->scheme, "Bearer")) return SLUICE_VERDICT_CONTINUE;
  api_of(instance)->header_set(exchange, SLUICE_SIDE_REQUEST, text("authorization"), text(SECRET));
  return SLUICE_VERDICT_RESPOND;
}

static sluice_verdict on_redirect(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect) {
  (void)instance, (void)exchange, (void)redirect;
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  const sluice_exchange_api *api = api_of(instance);
  if (RETRIES && api->status_get(exchange) == 503) return api->retry(exchange, 30000000000);
  api->header_set(exchange, SLUICE_SIDE_RESPONSE, text("x-build"), text(BUILD));
  if (sizeof BODY > 1) api->body_set(exchange, SLUICE_SIDE_RESPONSE, bytes_of(BODY));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_failure(void *instance, sluice_exchange *exchange, const sluice_failure *failure) {
  (void)instance, (void)exchange, (void)failure;
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_issue = on_issue, .on_redirect = on_redirect,
                 .on_challenge = on_challenge, .on_response = on_response, .on_failure = on_failure);
STAGE_PLUGIN(SLUICE_INTERCEPTOR_ID, table);
