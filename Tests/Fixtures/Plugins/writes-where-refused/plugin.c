// Sets the method of the request in the call that PHASE names. The host must refuse this.
#include "../stage.h"

#ifndef PHASE
#define PHASE ""
#endif

static void write_in(const char *phase, void *instance, sluice_exchange *exchange) {
  if (strcmp(phase, PHASE) == 0) api_of(instance)->method_set(exchange, text("PUT"));
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  write_in("issue", instance, exchange);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_redirect(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect) {
  (void)redirect;
  write_in("redirect", instance, exchange);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_challenge(void *instance, sluice_exchange *exchange, const sluice_challenge *challenge) {
  (void)challenge;
  write_in("challenge", instance, exchange);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  write_in("response", instance, exchange);
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_failure(void *instance, sluice_exchange *exchange, const sluice_failure *failure) {
  (void)failure;
  write_in("failure", instance, exchange);
  return SLUICE_VERDICT_CONTINUE;
}

static void on_informational(void *instance, sluice_exchange *exchange, const sluice_informational *response) {
  (void)response;
  write_in("informational", instance, exchange);
}

static sluice_body_verdict on_chunk(void *instance, sluice_exchange *exchange, sluice_side side, sluice_bytes piece) {
  (void)piece;
  write_in(side == SLUICE_SIDE_REQUEST ? "request piece" : "piece", instance, exchange);
  return SLUICE_BODY_VERDICT_PASS;
}

static sluice_body_verdict on_end(void *instance, sluice_exchange *exchange, sluice_side side) {
  write_in(side == SLUICE_SIDE_REQUEST ? "request end" : "end", instance, exchange);
  return SLUICE_BODY_VERDICT_PASS;
}

static sluice_body_verdict on_trailer(
    void *instance, sluice_exchange *exchange, sluice_side side, sluice_text name, sluice_text value) {
  (void)side, (void)name, (void)value;
  write_in("trailer", instance, exchange);
  return SLUICE_BODY_VERDICT_PASS;
}

static void on_event(void *instance, const sluice_event *event) {
  if (event->kind == SLUICE_EVENT_DID_COMPLETE) write_in("event", instance, event->exchange);
}

static const sluice_interceptor interceptor = SLUICE_TABLE(
    sluice_interceptor, .on_issue = on_issue, .on_redirect = on_redirect, .on_challenge = on_challenge,
    .on_response = on_response, .on_failure = on_failure, .on_informational = on_informational);
static const sluice_body body = SLUICE_TABLE(
    sluice_body, .sides = SLUICE_BODY_SIDE_REQUEST | SLUICE_BODY_SIDE_RESPONSE, .on_chunk = on_chunk, .on_end = on_end,
    .on_trailer = on_trailer);
static const sluice_tracer tracer = SLUICE_TABLE(sluice_tracer, .on_event = on_event);

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_BODY_ID, &body}, {SLUICE_TRACER_ID, &tracer});

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
