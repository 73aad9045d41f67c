// A tracer that waits in each event until the test opens its gate, and logs its events.
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <time.h>

#include "../stage.h"

// The gate is open at first; the test writes 0 to close it and 1 to open it. The plugin also counts the calls that have
// begun, and notes whether two ran at the same time.
static atomic_int gate[3] = {1, 0, 0};
static atomic_int calls;

static void on_event(void *instance, const sluice_event *event) {
  if (atomic_fetch_add(&calls, 1) != 0) atomic_store(&gate[2], 1);
  atomic_fetch_add(&gate[1], 1);
  struct timespec pause = {.tv_nsec = 100000};
  while (!atomic_load(&gate[0])) nanosleep(&pause, NULL);
  char line[64];
  snprintf(line, sizeof line, "%02x%02x%02x%02x %u", event->transaction_id[0], event->transaction_id[1],
      event->transaction_id[2], event->transaction_id[3], event->kind);
  tell_text(instance, "event", text(line));
  if (event->exchange) tell(instance, "exchange", 1);
  if (event->timings) tell(instance, "sent", (long)event->timings->bytes_sent);
  if (event->kind == SLUICE_EVENT_DID_COMPLETE) {
    tell(instance, "url", event->url.size);
    tell_text(instance, "method", event->method);
    tell(instance, "message", event->error_message.size);
    tell(instance, "outcome", event->outcome);
  }
  atomic_fetch_sub(&calls, 1);
}

static const sluice_tracer table = SLUICE_TABLE(sluice_tracer, .on_event = on_event);

static const void *extension(const char *id) {
  if (strcmp(id, "gate") == 0) return gate;
  return strcmp(id, SLUICE_TRACER_ID) == 0 ? (const void *)&table : NULL;
}
FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
