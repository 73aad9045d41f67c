// Sets, reads and removes attributes of its transaction, as the instance "first" or "second", and tries every kind of
// attribute that a host must refuse. Logs each status as `name=number`, with the instance's name before it.
#include <math.h>
#include <pthread.h>
#include <sluice/draft/attributes.h>

#include "../stage.h"

// Flags of the interceptor.
#ifndef FLAGS
#define FLAGS 0
#endif

static const sluice_attributes *attributes;

static int is_first(void *instance) { return sluice_text_equals(host_of(instance)->instance_name, "first"); }

static void tell_of(void *instance, const char *name, long number) {
  char line[64];
  snprintf(line, sizeof line, "%s.%s", is_first(instance) ? "first" : "second", name);
  tell(instance, line, number);
}

static void tell_value(void *instance, sluice_exchange *exchange, const char *name) {
  sluice_attribute found;
  sluice_status status = attributes->get(exchange, text(name), &found);
  char line[256];
  const char *who = is_first(instance) ? "first" : "second";
  if (status != SLUICE_STATUS_OK) {
    snprintf(line, sizeof line, "%s.%s=status %d", who, name, (int)status);
  } else {
    snprintf(
        line, sizeof line, "%s.%s=%u %u %lld %g %.*s", who, name, found.kind, found.flags, (long long)found.integer,
        found.number, (int)found.text.size, found.text.size ? found.text.data : "");
  }
  sluice_log(host_of(instance), SLUICE_LOG_INFO, line);
}

static void set_refused(void *instance, sluice_exchange *exchange) {
  static char long_text[SLUICE_ATTRIBUTE_TEXT_BYTES + 1];
  memset(long_text, 'l', sizeof long_text);
  sluice_attribute attribute = sluice_attribute_integer("a", 1), found;
  tell_of(instance, "null", attributes->set(exchange, NULL));
  tell_of(instance, "null-place", attributes->get(exchange, text("a"), NULL));
  tell_of(instance, "null-at", attributes->at(exchange, 0, NULL));
  tell_of(instance, "bad-name", attributes->get(exchange, text("a b"), &found));
  tell_of(instance, "bad-remove", attributes->remove(exchange, (sluice_text){NULL, 5}));
  tell_of(instance, "far", attributes->at(exchange, SIZE_MAX, &found));
  attribute.name = (sluice_text){"a", SIZE_MAX};
  tell_of(instance, "forged-name", attributes->set(exchange, &attribute));
  attribute = sluice_attribute_text("a", (sluice_text){"a", SIZE_MAX});
  tell_of(instance, "forged-text", attributes->set(exchange, &attribute));
  attribute = sluice_attribute_text("a", (sluice_text){long_text, sizeof long_text});
  tell_of(instance, "long-text", attributes->set(exchange, &attribute));
  attribute = sluice_attribute_text("a", (sluice_text){"\xff", 1});
  tell_of(instance, "not-utf8", attributes->set(exchange, &attribute));
  attribute = sluice_attribute_number("a", NAN);
  tell_of(instance, "not-a-number", attributes->set(exchange, &attribute));
  attribute = sluice_attribute_integer("a", 1);
  attribute.flags = 4;
  tell_of(instance, "unknown-flag", attributes->set(exchange, &attribute));
  attribute.flags = 0;
  attribute.kind = 7;
  tell_of(instance, "unknown-kind", attributes->set(exchange, &attribute));
  attribute = sluice_attribute_integer("a", 1);
  tell_of(instance, "forged-exchange", attributes->set((sluice_exchange *)((uintptr_t)exchange ^ 2), &attribute));
  tell_of(instance, "null-exchange", attributes->set(NULL, &attribute));
}

static void fill(void *instance, sluice_exchange *exchange) {
  int count = 0;
  sluice_status status = SLUICE_STATUS_OK;
  while (status == SLUICE_STATUS_OK && count < 1000) {
    char name[16];
    snprintf(name, sizeof name, "n%d", count);
    sluice_attribute attribute = sluice_attribute_integer(name, count);
    status = attributes->set(exchange, &attribute);
    if (status == SLUICE_STATUS_OK) count++;
  }
  tell_of(instance, "filled", count);
  tell_of(instance, "full", status);
  sluice_attribute again = sluice_attribute_integer("n0", 100);
  tell_of(instance, "again", attributes->set(exchange, &again));
  for (int i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    attributes->remove(exchange, text(name));
  }
}

static void *set_elsewhere(void *context) {
  sluice_attribute attribute = sluice_attribute_integer("elsewhere", 1);
  tell_of(((void **)context)[0], "elsewhere", attributes->set(((void **)context)[1], &attribute));
  return NULL;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  sluice_context context = SLUICE_SIZED(sluice_context);
  api_of(instance)->context(exchange, &context);
  if (!is_first(instance)) {
    static const char *const names[] = {"http.route", "tries", "share", "is-new", "user.id", "removed"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) tell_value(instance, exchange, names[i]);
    sluice_attribute route = sluice_attribute_text("http.route", text("/second"));
    tell_of(instance, "set", attributes->set(exchange, &route));
    sluice_attribute found;
    long count = 0;
    while (attributes->at(exchange, (size_t)count, &found) == SLUICE_STATUS_OK) count++;
    tell_of(instance, "count", count);
    return SLUICE_VERDICT_CONTINUE;
  }
  tell_value(instance, exchange, "http.route");
  if (context.attempt == 0) {
    set_refused(instance, exchange);
    fill(instance, exchange);
    void *both[] = {instance, exchange};
    pthread_t thread;
    if (pthread_create(&thread, NULL, set_elsewhere, both) == 0) pthread_join(thread, NULL);
  }
  char route[] = "/items/{id}";
  sluice_attribute all[] = {
      sluice_attribute_text("http.route", text(route)),
      sluice_attribute_integer("tries", (int64_t)context.attempt + 1),
      sluice_attribute_number("share", 0.5),
      sluice_attribute_bool("is-new", context.attempt == 0),
      sluice_attribute_text("user.id", text("s3cret")),
      sluice_attribute_text("removed", text("")),
  };
  all[4].flags = SLUICE_ATTRIBUTE_SENSITIVE;
  long statuses = 0;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) statuses |= attributes->set(exchange, &all[i]);
  // The host has a copy of the value.
  memset(route, 'x', sizeof route - 1);
  tell_of(instance, "set", statuses);
  tell_of(instance, "remove", attributes->remove(exchange, text("removed")));
  tell_of(instance, "remove-again", attributes->remove(exchange, text("removed")));
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  sluice_context context = SLUICE_SIZED(sluice_context);
  api_of(instance)->context(exchange, &context);
  if (is_first(instance) && context.attempt == 0) return api_of(instance)->retry(exchange, 0);
  return SLUICE_VERDICT_CONTINUE;
}

static void on_event(void *instance, const sluice_event *event) {
  if (!event->exchange) return tell_of(instance, "no-exchange", 1);
  tell_value(instance, event->exchange, "tries");
  sluice_attribute late = sluice_attribute_bool("late", 1);
  tell_of(instance, "set-in-event", attributes->set(event->exchange, &late));
  tell_of(instance, "remove-in-event", attributes->remove(event->exchange, text("tries")));
}

static const sluice_tracer tracer =
    SLUICE_TABLE(sluice_tracer, .interests = SLUICE_INTEREST(SLUICE_EVENT_DID_COMPLETE), .on_event = on_event);
static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor, .flags = FLAGS, .on_request = on_request, .on_response = on_response);

static sluice_status activate(void *instance, sluice_error *error) {
  attributes = host_of(instance)->extension(host_of(instance), SLUICE_ATTRIBUTES_ID);
  return SLUICE_HAS(attributes, at) ? SLUICE_STATUS_OK : sluice_error_set(error, "no attributes");
}

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_TRACER_ID, &tracer});
FIXTURE_PLUGIN(FIXTURE_LIFE, .activate = activate, .extension = extension);
