// Begins spans in its calls, misuses some of them, and logs the returned statuses. It is also a tracer, and logs its
// events.
#include <inttypes.h>
#include <math.h>
#include <sluice/draft/spans.h>

#include "../stage.h"

static const sluice_spans *spans;
/// The span of an earlier transaction.
static sluice_open_span kept;

static sluice_status set_text(sluice_exchange *exchange, sluice_open_span span, const char *key, const char *value) {
  sluice_attribute attribute = sluice_attribute_text(key, text(value));
  return spans->set_attribute(exchange, span, &attribute);
}

/// Makes wrong calls, and logs the statuses that they return. The calls are, in this order: begin a span without a
/// name, with a line break in its name, of an unknown kind, and with NULL for the span; set an attribute without a
/// name, of an unknown kind, with a number that is not finite, and with NULL for the attribute; set an unknown status.
static void misuse(void *instance, sluice_exchange *exchange, sluice_open_span span) {
  sluice_open_span none;
  tell(instance, "invalid", spans->begin(exchange, text(""), SLUICE_SPAN_INTERNAL, &none));
  tell(instance, "invalid", spans->begin(exchange, text("a\nb"), SLUICE_SPAN_INTERNAL, &none));
  tell(instance, "invalid", spans->begin(exchange, text("a"), 2, &none));
  tell(instance, "invalid", spans->begin(exchange, text("a"), SLUICE_SPAN_INTERNAL, NULL));
  tell(instance, "invalid", set_text(exchange, span, "", "b"));
  sluice_attribute odd = {.name = text("odd"), .kind = 9};
  tell(instance, "invalid", spans->set_attribute(exchange, span, &odd));
  odd = sluice_attribute_number("odd", HUGE_VAL);
  tell(instance, "invalid", spans->set_attribute(exchange, span, &odd));
  tell(instance, "invalid", spans->set_attribute(exchange, span, NULL));
  tell(instance, "invalid", spans->set_status(exchange, span, 3, text("")));
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  sluice_open_span work, left;
  sluice_status begun = spans->begin(exchange, text("work"), SLUICE_SPAN_INTERNAL, &work);
  tell(instance, "begun", begun);
  if (begun == SLUICE_STATUS_ABSENT) {
    tell(instance, "absent", work.slot + work.generation);
    tell(instance, "absent", set_text(exchange, work, "a", "b"));
    tell(instance, "absent", spans->set_status(exchange, work, SLUICE_SPAN_OK, text("")));
    tell(instance, "absent", spans->end(exchange, work));
    return SLUICE_VERDICT_CONTINUE;
  }
  if (kept.slot) {
    tell(instance, "stale", set_text(exchange, kept, "a", "b"));
    tell(instance, "stale", spans->set_status(exchange, kept, SLUICE_SPAN_OK, text("")));
    tell(instance, "stale", spans->end(exchange, kept));
    sluice_open_span forged = {work.slot, work.generation ^ 2};
    tell(instance, "stale", spans->end(exchange, forged));
  }
  misuse(instance, exchange, work);
  set_text(exchange, work, "word", "before");
  sluice_attribute attribute = sluice_attribute_text("word", text("after"));
  attribute.flags = SLUICE_ATTRIBUTE_SENSITIVE;
  spans->set_attribute(exchange, work, &attribute);
  attribute = sluice_attribute_integer("count", INT64_MIN);
  spans->set_attribute(exchange, work, &attribute);
  attribute = sluice_attribute_number("part", 0.5);
  spans->set_attribute(exchange, work, &attribute);
  attribute = sluice_attribute_bool("yes", 7);
  spans->set_attribute(exchange, work, &attribute);
  spans->set_status(exchange, work, SLUICE_SPAN_ERROR, text("not kept"));
  tell(instance, "ok", spans->set_status(exchange, work, SLUICE_SPAN_OK, text("not kept either")));
  tell(instance, "ok", spans->end(exchange, work));
  tell(instance, "stale", spans->end(exchange, work));
  tell(instance, "ok", spans->begin(exchange, text("left open"), SLUICE_SPAN_CLIENT, &left));
  kept = left;
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  sluice_open_span span;
  if (spans->begin(exchange, text("issue"), SLUICE_SPAN_INTERNAL, &span) == SLUICE_STATUS_OK) spans->end(exchange, span);
  (void)instance;
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  sluice_open_span span;
  if (spans->begin(exchange, text("full"), SLUICE_SPAN_CLIENT, &span) != SLUICE_STATUS_OK) return SLUICE_VERDICT_CONTINUE;
  static char long_text[3000];
  memset(long_text, 'x', sizeof long_text - 1);
  for (int i = 0; i < 35; i++) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    sluice_status status = set_text(exchange, span, key, long_text);
    if (status != SLUICE_STATUS_OK) tell(instance, "limit", status);
  }
  spans->set_status(exchange, span, SLUICE_SPAN_ERROR, text(long_text));
  spans->end(exchange, span);
#ifdef MANY
  for (int i = 0; i < 70; i++) {
    sluice_status status = spans->begin(exchange, text("one of many"), SLUICE_SPAN_INTERNAL, &span);
    if (status == SLUICE_STATUS_LIMIT) tell(instance, "many", span.slot + span.generation);
  }
#endif
  return SLUICE_VERDICT_CONTINUE;
}

static void hex(char *out, const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) sprintf(out + 2 * i, "%02x", bytes[i]);
}

static void tell_span(void *instance, const sluice_event *event) {
  const sluice_span *span = event->span;
  char trace[33], id[17], parent[17], line[1024];
  hex(trace, span->trace_id, 16);
  hex(id, span->span_id, 8);
  hex(parent, span->parent_span_id, 8);
  size_t attribute_bytes = 0;
  for (uint32_t i = 0; i < span->attribute_count; i++) attribute_bytes += span->attributes[i].text.size;
  snprintf(
      line, sizeof line,
      "span=%.*s|%u|%s|%s|%s|%d|%u|%zu|%u|%.*s|%u|%u|%zu|%u.%u", (int)span->name.size, span->name.data, span->kind, trace, id,
      parent, span->start_ns <= span->end_ns && span->end_ns <= event->time_ns, span->status, span->status_message.size,
      span->is_unfinished, (int)span->stage.size, span->stage.data, span->attribute_count,
      span->dropped_attribute_count, attribute_bytes, event->attempt, event->hop);
  sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
  for (uint32_t i = 0; i < span->attribute_count && i < 4; i++) {
    const sluice_attribute *attribute = &span->attributes[i];
    snprintf(
        line, sizeof line, "attribute=%.*s %u %.*s %" PRId64 " %g %u", (int)attribute->name.size, attribute->name.data,
        attribute->kind, (int)(attribute->text.size > 9 ? 9 : attribute->text.size), attribute->text.data,
        attribute->integer, attribute->number, attribute->flags);
    if (span->name.size == 4 && span->attribute_count == 4) sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
  }
}

static void on_event(void *instance, const sluice_event *event) {
  if (event->kind == SLUICE_EVENT_DID_END_SPAN) return tell_span(instance, event);
  if (event->span) tell(instance, "odd", event->kind);
  sluice_open_span span;
  if (event->exchange && event->kind == SLUICE_EVENT_DID_ISSUE) {
    tell(instance, "refused", spans->begin(event->exchange, text("a"), SLUICE_SPAN_INTERNAL, &span));
    tell(instance, "refused", spans->end(event->exchange, kept));
  }
}

static const sluice_interceptor interceptor = {
    .size = sizeof interceptor,
#ifdef SERIAL
    .flags = SLUICE_FLAG_SERIAL,
#endif
#ifdef BLOCKING
    .flags = SLUICE_FLAG_BLOCKING,
#endif
    .on_request = on_request,
    .on_issue = on_issue,
    .on_response = on_response};
static const sluice_tracer tracer = {.size = sizeof tracer, .on_event = on_event};

static sluice_status activate(void *instance, sluice_error *error) {
  spans = host_of(instance)->extension(host_of(instance), SLUICE_SPANS_ID);
  return SLUICE_HAS(spans, end) ? SLUICE_STATUS_OK : sluice_error_set(error, "no spans");
}

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_TRACER_ID, &tracer});
FIXTURE_PLUGIN(FIXTURE_LIFE, .activate = activate, .extension = extension);
