// Asks in every call what it is allowed to do, does it, and logs both: `PHASE.KIND=ASKED,DONE`, where 0 is OK. FLAGS
// are the flags of the interceptor. With ENTERS, on_request suspends, and the plugin asks after it has entered the
// exchange again. ONLY is the only phase in which it asks; "" means all phases.
#include <sluice/draft/attributes.h>

#include "../stage.h"

#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef ONLY
#define ONLY ""
#endif
#ifndef ENTERS
#define ENTERS 0
#endif

static sluice_status do_it(void *instance, sluice_exchange *exchange, sluice_side side, sluice_call_kind kind) {
  const sluice_exchange_api *api = api_of(instance);
  sluice_token token;
  switch (kind) {
    case SLUICE_CALL_WRITE_REQUEST_HEADERS:
      return api->header_set(exchange, SLUICE_SIDE_REQUEST, text("x-asked"), text("yes"));
    case SLUICE_CALL_WRITE_REQUEST_LINE: return api->method_set(exchange, text("PUT"));
    case SLUICE_CALL_WRITE_REQUEST_BODY: return api->body_set(exchange, SLUICE_SIDE_REQUEST, bytes_of("body"));
    case SLUICE_CALL_WRITE_RESPONSE:
      return api->header_set(exchange, SLUICE_SIDE_RESPONSE, text("x-asked"), text("yes"));
    case SLUICE_CALL_WRITE_RESPONSE_BODY: return api->body_set(exchange, SLUICE_SIDE_RESPONSE, bytes_of("body"));
    case SLUICE_CALL_READ_DOCUMENT:
      return api->json(exchange, SLUICE_SIDE_REQUEST, SLUICE_JSON_READ) ? SLUICE_STATUS_OK : SLUICE_STATUS_REFUSED;
    case SLUICE_CALL_WRITE_PIECE: return api->body_write(exchange, side, bytes_of("x"));
    case SLUICE_CALL_SUSPEND: return api->suspend(exchange, &token);
    case SLUICE_CALL_SET_LIMIT: return api->limit_set(exchange, SLUICE_LIMIT_ATTEMPTS, 1000);
    case SLUICE_CALL_SET_ATTRIBUTE: {
      const sluice_attributes *attributes = host_of(instance)->extension(host_of(instance), SLUICE_ATTRIBUTES_ID);
      sluice_attribute attribute = sluice_attribute_bool("asked", 1);
      return attributes->set(exchange, &attribute);
    }
    case SLUICE_CALL_RETRY:
      return api->retry(exchange, 0) == SLUICE_VERDICT_RETRY ? SLUICE_STATUS_OK : SLUICE_STATUS_REFUSED;
    case SLUICE_CALL_RESPOND:
      return api->respond(exchange, 200) == SLUICE_VERDICT_RESPOND ? SLUICE_STATUS_OK : SLUICE_STATUS_REFUSED;
    case SLUICE_CALL_ANSWER_CHALLENGE:
      return api->challenge_answer(exchange, text("u"), text("p")) == SLUICE_VERDICT_FAIL ? SLUICE_STATUS_REFUSED
                                                                                          : SLUICE_STATUS_OK;
    default: return SLUICE_STATUS_UNSUPPORTED;
  }
}

static void ask(void *instance, sluice_exchange *exchange, const char *phase, sluice_side side) {
  if (*ONLY && strcmp(phase, ONLY) != 0) return;
  // The functions that replace the response come last, because after such a call it is allowed to write to the
  // response. `fail` is not called, because its return value does not show whether it was allowed.
  static const sluice_call_kind kinds[] = {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 9, 8, 10, 99};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    sluice_status asked = api_of(instance)->may_call(exchange, kinds[i]);
    // `respond` is not called in on_response either, because an empty response would have no pieces for the next calls.
    int is_skipped = kinds[i] == SLUICE_CALL_FAIL || (kinds[i] == SLUICE_CALL_RESPOND && strcmp(phase, "response") == 0);
    sluice_status done = is_skipped ? asked : do_it(instance, exchange, side, kinds[i]);
    char line[64];
    snprintf(line, sizeof line, "%s.%u=%d,%d", phase, kinds[i], (int)asked, (int)done);
    sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
  }
  char name[32];
  snprintf(name, sizeof name, "%s-again", phase);
  tell(instance, name, api_of(instance)->may_call(exchange, SLUICE_CALL_SUSPEND));
}

typedef struct suspended {
  void *instance;
  sluice_token token;
} suspended;

static void ask_again(void *context) {
  suspended *self = context;
  const sluice_host *host = host_of(self->instance);
  sluice_exchange *exchange = host->enter(host, self->token);
  if (exchange) ask(self->instance, exchange, "entered", SLUICE_SIDE_REQUEST);
  host->resume(host, self->token, SLUICE_VERDICT_CONTINUE);
  free(self);
}

static sluice_verdict suspend(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  sluice_context facts = SLUICE_SIZED(sluice_context);
  suspended *self = malloc(sizeof *self);
  self->instance = instance;
  host->exchange->context(exchange, &facts);
  host->exchange->suspend(exchange, &self->token);
  host->post(host, facts.loop, ask_again, self);
  return SLUICE_VERDICT_SUSPENDED;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  if (ENTERS) return suspend(instance, exchange);
  ask(instance, exchange, "request", SLUICE_SIDE_REQUEST);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  ask(instance, exchange, "issue", SLUICE_SIDE_REQUEST);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_redirect(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect) {
  (void)redirect;
  ask(instance, exchange, "redirect", SLUICE_SIDE_REQUEST);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_challenge(void *instance, sluice_exchange *exchange, const sluice_challenge *challenge) {
  ask(instance, exchange, "challenge", SLUICE_SIDE_REQUEST);
  return challenge->answered ? SLUICE_VERDICT_CONTINUE : SLUICE_VERDICT_RESPOND;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  ask(instance, exchange, "response", SLUICE_SIDE_RESPONSE);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_failure(void *instance, sluice_exchange *exchange, const sluice_failure *failure) {
  (void)failure;
  ask(instance, exchange, "failure", SLUICE_SIDE_RESPONSE);
  return SLUICE_VERDICT_CONTINUE;
}

static void on_informational(void *instance, sluice_exchange *exchange, const sluice_informational *response) {
  (void)response;
  ask(instance, exchange, "informational", SLUICE_SIDE_RESPONSE);
}

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)piece;
  ask(instance, exchange, side == SLUICE_SIDE_REQUEST ? "request-piece" : "response-piece", side);
  return SLUICE_BODY_VERDICT_PASS;
}

static sluice_body_verdict on_end(void *instance, sluice_exchange *exchange, sluice_side side) {
  ask(instance, exchange, side == SLUICE_SIDE_REQUEST ? "request-end" : "response-end", side);
  return SLUICE_BODY_VERDICT_PASS;
}

static sluice_body_verdict on_trailer(
    void *instance, sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value) {
  (void)name, (void)value;
  ask(instance, exchange, "trailer", side);
  return SLUICE_BODY_VERDICT_PASS;
}

static void on_event(void *instance, const sluice_event *event) {
  if (event->kind == SLUICE_EVENT_DID_RECEIVE) ask(instance, event->exchange, "event", SLUICE_SIDE_RESPONSE);
}

static const sluice_interceptor interceptor = SLUICE_TABLE(
    sluice_interceptor, .flags = FLAGS, .on_request = on_request, .on_issue = on_issue, .on_redirect = on_redirect,
    .on_challenge = on_challenge, .on_response = on_response, .on_failure = on_failure,
    .on_informational = on_informational);
static const sluice_body body = SLUICE_TABLE(
    sluice_body, .sides = SLUICE_BODY_SIDE_REQUEST | SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk, .on_end = on_end,
    .on_trailer = on_trailer);
static const sluice_tracer tracer = SLUICE_TABLE(sluice_tracer, .on_event = on_event);

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_BODY_ID, &body}, {SLUICE_TRACER_ID, &tracer});

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
