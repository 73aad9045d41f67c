// Sends a call-out to the URL in the header `x-target`, and sets the header `x-called` to the status of the answer.
//
//   PARENT=0      no parent                        WAIT=0      does not suspend
//   TIMEOUT=ns, MAXIMUM=bytes                      THREAD=1    starts the call on a thread of its own
//   FORGED=1      a parent that is no token        EARLY=1     resumes before the answer is there, on loop 0
//   DOCUMENT=...  the request document, instead of a GET
#include <pthread.h>
#include <stdatomic.h>

#include "../stage.h"

#ifndef PARENT
#define PARENT 1
#endif
#ifndef WAIT
#define WAIT 1
#endif
#ifndef TIMEOUT
#define TIMEOUT 0
#endif
#ifndef MAXIMUM
#define MAXIMUM 0
#endif
#ifndef THREAD
#define THREAD 0
#endif
#ifndef FORGED
#define FORGED 0
#endif
#ifndef EARLY
#define EARLY 0
#endif
#ifndef DOCUMENT
#define DOCUMENT json_pack("{s:s, s:s, s:{s:s}}", "method", "GET", "url", work->target, "headers", "x-from", "stage")
#endif

typedef struct work {
  void *instance;
  sluice_token token;
  char target[256];
} work;

static atomic_int open_calls;

static const sluice_callout *callout_of(void *instance) {
  return host_of(instance)->extension(host_of(instance), SLUICE_CALLOUT_ID);
}

static void completed(void *context, const sluice_call_result *result) {
  work *work = context;
  void *instance = work->instance;
  const sluice_host *host = host_of(instance);
  tell(instance, "completed", result->has_response);
  if (result->has_response) {
    tell(instance, "status", (long)json_integer_value(json_object_get(result->response, "status")));
    tell_text(instance, "body", text(json_string_value(json_object_get(json_object_get(result->response, "body"), "text"))));
  } else {
    tell_text(instance, "code", result->error_code);
    tell_text(instance, "message", result->error_message);
  }
  if (WAIT) {
    sluice_exchange *exchange = host->enter(host, work->token);
    tell(instance, "entered", exchange != NULL);
    if (exchange) {
      char value[32];
      snprintf(
          value, sizeof value, "%ld", (long)json_integer_value(json_object_get(result->response, "status")));
      sluice_set_request_header(host, exchange, "x-called", value);
    }
    tell(instance, "resume", host->resume(host, work->token, SLUICE_VERDICT_CONTINUE));
  }
  free(work);
  atomic_fetch_sub(&open_calls, 1);
}

static void resume_now(void *context) {
  work *early = context;
  tell(early->instance, "early", host_of(early->instance)->resume(host_of(early->instance), early->token, SLUICE_VERDICT_CONTINUE));
  free(early);
}

// Resumes the call from a posted function. The call-out begins earlier, because its beginning was posted first.
static void resume_later(void *instance, sluice_token token) {
  work *early = calloc(1, sizeof *early);
  early->instance = instance;
  early->token = token;
  host_of(instance)->post(host_of(instance), 0, resume_now, early);
}

static void start(work *work) {
  void *instance = work->instance;
  sluice_call_options options = {.size = sizeof options, .timeout_ns = TIMEOUT, .maximum_response_bytes = MAXIMUM};
  if (PARENT) options.parent = work->token;
  if (FORGED) options.parent = (sluice_token){.slot = 0, .generation = 1, .nonce = 42};
  json_t *request = DOCUMENT;
  sluice_token token = work->token;
  atomic_fetch_add(&open_calls, 1);
  sluice_status status = callout_of(instance)->start(host_of(instance), request, &options, completed, work, NULL);
  json_decref(request);
  tell(instance, "start", status);
  if (status == SLUICE_STATUS_OK) {
    if (EARLY) resume_later(instance, token);
    return;
  }
  atomic_fetch_sub(&open_calls, 1);
  free(work);
  if (WAIT) host_of(instance)->resume(host_of(instance), token, SLUICE_VERDICT_CONTINUE);
}

static void *start_on_thread(void *context) {
  start(context);
  return NULL;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  tell(instance, "called", 1);
  work *work = calloc(1, sizeof *work);
  work->instance = instance;
  sluice_text target = sluice_request_header(host_of(instance), exchange, "x-target");
  snprintf(work->target, sizeof work->target, "%.*s", (int)target.size, target.data ? target.data : "");
  if (WAIT) api_of(instance)->suspend(exchange, &work->token);
  pthread_t thread;
  if (THREAD && pthread_create(&thread, NULL, start_on_thread, work) == 0) {
    pthread_detach(thread);
  } else {
    start(work);
  }
  return WAIT ? SLUICE_VERDICT_SUSPENDED : SLUICE_VERDICT_CONTINUE;
}

static void on_cancel(void *instance, sluice_token token) {
  (void)token;
  tell(instance, "on-cancel", 1);
}

/// The completion of the call that `deactivate` starts.
static void completed_late(void *instance, const sluice_call_result *result) {
  tell_text(instance, "late-code", result->error_code);
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)deadline;
  tell(instance, "deactivated", 1);
  json_t *request = json_pack("{s:s}", "url", "http://127.0.0.1:9/");
  tell(
      instance, "start-late", callout_of(instance)->start(host_of(instance), request, NULL, completed_late, instance, NULL));
  json_decref(request);
}

static void destroy(void *instance) { tell(instance, "open-at-destroy", atomic_load(&open_calls)); }

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_cancel = on_cancel);

static const void *extension(const char *id) { return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL; }
SLUICE_REQUIRES(callout);
FIXTURE_PLUGIN(.create = fixture_create, .deactivate = deactivate, .destroy = destroy, .extension = extension);
