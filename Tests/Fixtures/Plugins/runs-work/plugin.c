// Runs functions on threads of the host, and logs the results as `name=number`. The header `do` of the request names
// the functions.
#include <pthread.h>
#include <sluice/draft/work.h>
#include <stdatomic.h>

#include "../stage.h"

static const sluice_work *work;

static const sluice_token no_parent = {0, 0, 0};

/// A gate at which functions on the pool wait.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open = 0;
static int waits = 0;

static void set_gate(int value) {
  pthread_mutex_lock(&mutex);
  is_open = value;
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&mutex);
}

static void pass_gate(void) {
  pthread_mutex_lock(&mutex);
  waits = 1;
  pthread_cond_broadcast(&opened);
  while (!is_open) pthread_cond_wait(&opened, &mutex);
  pthread_mutex_unlock(&mutex);
}

/// Returns when a function waits at the gate.
static void await_waiting(void) {
  pthread_mutex_lock(&mutex);
  while (!waits) pthread_cond_wait(&opened, &mutex);
  pthread_mutex_unlock(&mutex);
}

typedef struct job {
  void *instance;
  sluice_exchange *exchange;
  sluice_token token;
  pthread_t thread;
  const char *name;
  atomic_int runs;
} job;

static job *make_job(void *instance, const char *name) {
  job *self = calloc(1, sizeof *self);
  if (!self) abort();
  self->instance = instance;
  self->name = name;
  self->thread = pthread_self();
  return self;
}

static void run_job(void *context) {
  job *self = context;
  self->runs++;
  tell(self->instance, "other-thread", !pthread_equal(self->thread, pthread_self()));
  sluice_context facts = SLUICE_SIZED(sluice_context);
  if (self->exchange) tell(self->instance, "exchange", api_of(self->instance)->context(self->exchange, &facts));
}

static void run_behind_gate(void *context) {
  job *self = context;
  self->runs++;
  pass_gate();
}

static void run_and_end_thread(void *context) {
  ((job *)context)->runs++;
  pthread_exit(NULL);
}

/// Logs `name=STATUS` and the number of times that the function has run, and resumes the transaction.
static void complete(void *context, sluice_status status) {
  job *self = context;
  const sluice_host *host = host_of(self->instance);
  tell(self->instance, self->name, status);
  tell(self->instance, "runs", self->runs);
  if (self->token.nonce) {
    sluice_exchange *exchange = host->enter(host, self->token);
    tell(self->instance, "entered", exchange != NULL);
    if (exchange) sluice_set_request_header(host, exchange, "x-work", "done");
    tell(self->instance, "resume", host->resume(host, self->token, SLUICE_VERDICT_CONTINUE));
  }
  free(self);
}

static atomic_int completed = 0;

static void count(void *context, sluice_status status) {
  (void)status;
  tell(context, "counted", ++completed);
}

static void wait_at_gate(void *context) {
  (void)context;
  pass_gate();
}

static void never_called(void *context) { tell(context, "called", 1); }
static void never_completed(void *context, sluice_status status) {
  (void)status;
  tell(context, "called", 1);
}

static void try_refused(void *instance) {
  const sluice_host *host = host_of(instance);
  tell(instance, "no-function", work->run(host, no_parent, NULL, never_completed, instance));
  tell(instance, "no-completion", work->run(host, no_parent, never_called, NULL, instance));
  tell(instance, "no-host", work->run(NULL, no_parent, never_called, never_completed, instance));
  tell(
      instance, "forged-parent",
      work->run(host, (sluice_token){0, 1, 12345}, never_called, never_completed, instance));
  tell(
      instance, "impossible-parent",
      work->run(host, (sluice_token){UINT32_MAX, UINT32_MAX, 1}, never_called, never_completed, instance));
}

static void *run_elsewhere(void *instance) {
  job *self = make_job(instance, "elsewhere");
  tell(instance, "run-elsewhere", work->run(host_of(instance), no_parent, run_job, complete, self));
  return NULL;
}

static sluice_verdict suspend_with(
    void *instance, sluice_exchange *exchange, const char *name, void (*function)(void *context)) {
  job *self = make_job(instance, name);
  self->exchange = exchange;
  if (api_of(instance)->suspend(exchange, &self->token) != SLUICE_STATUS_OK) abort();
  tell(instance, "run", work->run(host_of(instance), self->token, function, complete, self));
  return SLUICE_VERDICT_SUSPENDED;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  const sluice_host *host = host_of(instance);
  sluice_text what = sluice_request_header(host, exchange, "do");
  if (sluice_text_equals(what, "run")) return suspend_with(instance, exchange, "done", run_job);
  if (sluice_text_equals(what, "end-thread")) return suspend_with(instance, exchange, "ended", run_and_end_thread);
  if (sluice_text_equals(what, "refused")) try_refused(instance);
  if (sluice_text_equals(what, "open")) set_gate(1);
  if (sluice_text_equals(what, "block")) {
    set_gate(0);
    job *self = make_job(instance, "blocked");
    tell(instance, "run", work->run(host, no_parent, run_behind_gate, complete, self));
    await_waiting();
  }
  if (sluice_text_equals(what, "elsewhere")) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_elsewhere, instance) == 0) pthread_join(thread, NULL);
  }
  if (sluice_text_equals(what, "fill")) {
    set_gate(0);
    long taken = 0;
    while (work->run(host, no_parent, wait_at_gate, count, instance) == SLUICE_STATUS_OK) taken++;
    tell(instance, "taken", taken);
    tell(instance, "full", work->run(host, no_parent, wait_at_gate, count, instance));
    set_gate(1);
  }
  return SLUICE_VERDICT_CONTINUE;
}

static void on_cancel(void *instance, sluice_token token) {
  (void)token;
  tell(instance, "cancelled", 1);
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)config;
  work = host->extension(host, SLUICE_WORK_ID);
  if (!SLUICE_HAS(work, run)) return sluice_error_set(error, "no work");
  *instance = (void *)host;
  tell(*instance, "create", work->run(host, no_parent, never_called, never_completed, *instance));
  return SLUICE_STATUS_OK;
}

/// Opens the gate, so that running functions end.
static void deactivate(void *instance, uint64_t timeout_ns) {
  (void)timeout_ns;
  tell(instance, "deactivate", work->run(host_of(instance), no_parent, never_called, never_completed, instance));
#ifndef KEEPS_GATE
  set_gate(1);
#endif
}

static void destroy(void *instance) {
  tell(instance, "destroy", work->run(host_of(instance), no_parent, never_called, never_completed, instance));
}

static const sluice_interceptor interceptor =
    SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_cancel = on_cancel);

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor});
FIXTURE_PLUGIN(.create = create, .deactivate = deactivate, .destroy = destroy, .extension = extension);
