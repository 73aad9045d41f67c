// Sets a header in each hop. Logs each event's facts about the hop, and logs which calls of a stage see that header.
#include "../stage.h"

// A test can define other values of these macros.
#ifndef INTERESTS
#define INTERESTS 0u
#endif
#ifndef FLAGS
#define FLAGS 0u
#endif

typedef struct word {
  char text[40];
} word;

static word hexadecimal(const uint8_t *bytes, size_t count) {
  word digits = {{0}};
  for (size_t i = 0; i < count; i++) snprintf(digits.text + 2 * i, 3, "%02x", bytes[i]);
  return digits;
}

/// Logs the sent value of the header that `on_issue` has set, as the exchange reports it.
static word issued(void *instance, sluice_exchange *exchange) {
  word result = {"absent"};
  sluice_text value = {0};
  sluice_status status = api_of(instance)->issued_header_get(exchange, text("X-Hop"), &value);
  if (status == SLUICE_STATUS_OK) snprintf(result.text, sizeof result.text, "%.*s", (int)value.size, value.data);
  else if (status != SLUICE_STATUS_ABSENT) snprintf(result.text, sizeof result.text, "status%d", (int)status);
  return result;
}

static sluice_verdict seen(void *instance, sluice_exchange *exchange, const char *call) {
  word value = issued(instance, exchange);
  tell_text(instance, call, text(value.text));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  return seen(instance, exchange, "on_request");
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  sluice_context context = {.size = sizeof context};
  api_of(instance)->context(exchange, &context);
  seen(instance, exchange, "on_issue");
  char value[32];
  snprintf(value, sizeof value, "%u.%u", context.attempt, context.hop);
  sluice_set_request_header(host_of(instance), exchange, "x-hop", value);
  return seen(instance, exchange, "on_issue");
}

static sluice_verdict on_redirect(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect) {
  (void)redirect;
  return seen(instance, exchange, "on_redirect");
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  return seen(instance, exchange, "on_response");
}

static sluice_verdict on_failure(void *instance, sluice_exchange *exchange, const sluice_failure *failure) {
  (void)failure;
  return seen(instance, exchange, "on_failure");
}

static void on_event(void *instance, const sluice_event *event) {
  const sluice_timings *timings = event->timings;
  char line[400];
  snprintf(line, sizeof line,
      "kind:%u place:%u.%u trace:%s span:%s parent:%s flags:%u status:%u code:%.*s sent:%ld received:%ld took:%ld "
      "issued:%s",
      event->kind, event->attempt, event->hop, hexadecimal(event->trace_id, 16).text,
      hexadecimal(event->span_id, 8).text, hexadecimal(event->parent_span_id, 8).text, event->trace_flags,
      event->status, (int)event->error_code.size, event->error_code.data ? event->error_code.data : "",
      timings ? (long)timings->bytes_sent : -1, timings ? (long)timings->bytes_received : -1, (long)event->duration_ns,
      event->exchange ? issued(instance, event->exchange).text : "queued");
  tell_text(instance, "event", text(line));
}

static const sluice_tracer tracer = SLUICE_TABLE(sluice_tracer, .interests = INTERESTS, .on_event = on_event);
static const sluice_interceptor interceptor = SLUICE_TABLE(
    sluice_interceptor, .flags = FLAGS, .on_request = on_request, .on_issue = on_issue, .on_redirect = on_redirect,
    .on_response = on_response, .on_failure = on_failure);

SLUICE_EXTENSIONS(extension, {SLUICE_TRACER_ID, &tracer}, {SLUICE_INTERCEPTOR_ID, &interceptor});

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
