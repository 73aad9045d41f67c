// Stamps its build into requests and responses, as stamps-generation does. The header x-trap of a request says how the
// call ends: with "loop" it never returns, with "gate" it returns only after the named pipe GATE is opened for writing,
// and with "exit" it ends the thread.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "../stage.h"

#ifndef GATE
#define GATE "/nonexistent"
#endif

static const volatile char marker[] = "swap-generation:00000000";

static void stamp(void *instance, sluice_exchange *exchange, sluice_side side) {
  int number = 0;
  for (int place = 16; place < 24; place++) number = number * 10 + (marker[place] - '0');
  char digits[16];
  snprintf(digits, sizeof digits, "%d", number);
  api_of(instance)->header_set(exchange, side, text("x-stamp-a"), text(digits));
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  stamp(instance, exchange, SLUICE_SIDE_REQUEST);
  sluice_text trap;
  if (api_of(instance)->header_get(exchange, SLUICE_SIDE_REQUEST, text("x-trap"), &trap) != SLUICE_STATUS_OK) return SLUICE_VERDICT_CONTINUE;
  const char kind = trap.size > 0 ? trap.data[0] : 'l';
  tell(instance, "trapped", 1);
  if (kind == 'g') {
    close(open(GATE, O_RDONLY | O_CLOEXEC));
    return SLUICE_VERDICT_CONTINUE;
  }
  if (kind == 'e') pthread_exit(NULL);
  for (volatile int turn = 0;; turn = 1 - turn) continue;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  stamp(instance, exchange, SLUICE_SIDE_RESPONSE);
  return SLUICE_VERDICT_CONTINUE;
}

static void destroy(void *instance) { tell(instance, "destroyed", 1); }

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_response = on_response);

static const void *extension(const char *id) { return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL; }
FIXTURE_PLUGIN(.create = fixture_create, .destroy = destroy, .extension = extension);
