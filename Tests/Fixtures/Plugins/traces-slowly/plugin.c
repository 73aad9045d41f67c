// A tracer that takes 3 ms for each event, and logs which events it got.
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "../stage.h"

static void on_event(void *instance, const sluice_event *event) {
  struct timespec pause = {.tv_nsec = 3000000};
  nanosleep(&pause, NULL);
  tell(instance, "event", event->kind);
}

static const sluice_tracer table = SLUICE_TABLE(sluice_tracer, .on_event = on_event);
STAGE_PLUGIN(SLUICE_TRACER_ID, table);
