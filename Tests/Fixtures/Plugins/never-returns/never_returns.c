// Stamps its build into requests and responses, as stamps-generation does. The header x-trap of a request says how the
// call ends: with "loop" it never returns, with "gate" it returns only after the named pipe GATE is opened for writing,
// and with "exit" it ends the thread.
//
// The values "post", "timer" and "call" concern on_response. That call returns, but the loop then calls a function that
// never returns: a posted function, a timer, or the completion of a call-out. With "after", a posted function ends the
// thread. SERIAL makes the plugin SERIAL, and a tracer.
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
  if (strchr("ptca", kind)) return SLUICE_VERDICT_CONTINUE;
  tell(instance, "trapped", 1);
  if (kind == 'g') {
    close(open(GATE, O_RDONLY | O_CLOEXEC));
    return SLUICE_VERDICT_CONTINUE;
  }
  if (kind == 'e') pthread_exit(NULL);
  for (volatile int turn = 0;; turn = 1 - turn) continue;
}

static void never_return(void *instance) {
  tell(instance, "trapped", 1);
  for (volatile int turn = 0;; turn = 1 - turn) continue;
}

static void end_thread(void *instance) {
  tell(instance, "trapped", 1);
  pthread_exit(NULL);
}

static void never_complete(void *instance, const sluice_call_result *result) {
  (void)result;
  never_return(instance);
}

// Nothing listens at port 1, so the call-out fails.
static void call_out(void *instance) {
  const sluice_callout *callout = host_of(instance)->extension(host_of(instance), SLUICE_CALLOUT_ID);
  json_t *request = json_pack("{s:s, s:s}", "method", "GET", "url", "http://127.0.0.1:1/");
  callout->start(host_of(instance), request, NULL, never_complete, instance, NULL);
  json_decref(request);
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  stamp(instance, exchange, SLUICE_SIDE_RESPONSE);
  sluice_text trap = {0};
  api_of(instance)->header_get(exchange, SLUICE_SIDE_REQUEST, text("x-trap"), &trap);
  if (trap.size == 0) return SLUICE_VERDICT_CONTINUE;
  sluice_context context = SLUICE_SIZED(sluice_context);
  api_of(instance)->context(exchange, &context);
  const sluice_timers *timers = host_of(instance)->extension(host_of(instance), SLUICE_TIMERS_ID);
  switch (trap.data[0]) {
    case 'p': host_of(instance)->post(host_of(instance), context.loop, never_return, instance); break;
    case 't': timers->start(host_of(instance), 0, never_return, instance, NULL); break;
    case 'c': call_out(instance); break;
    case 'a': host_of(instance)->post(host_of(instance), context.loop, end_thread, instance); break;
  }
  return SLUICE_VERDICT_CONTINUE;
}

static void destroy(void *instance) { tell(instance, "destroyed", 1); }

#ifdef SERIAL
#define FLAGS SLUICE_FLAG_SERIAL
#else
#define FLAGS 0
#endif

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .flags = FLAGS, .on_request = on_request, .on_response = on_response);

#ifdef SERIAL
static void on_event(void *instance, const sluice_event *event) { (void)instance, (void)event; }

static const sluice_tracer tracer = SLUICE_TABLE(sluice_tracer, .on_event = on_event);
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &table}, {SLUICE_TRACER_ID, &tracer});
#else
SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &table});
#endif
FIXTURE_PLUGIN(.create = fixture_create, .destroy = destroy, .extension = extension);
