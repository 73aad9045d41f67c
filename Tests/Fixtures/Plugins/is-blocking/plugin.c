// Blocks in on_request until the test opens the gate. The test posts the semaphore, or opens the named pipe GATE for
// writing. SERIAL makes the plugin serial too, and makes it suspend on each redirect.
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../stage.h"

static sem_t gate;

__attribute__((constructor)) static void open_gate(void) { sem_init(&gate, 0, 0); }

// How often the data was released, in total and on a thread of the pool.
static int released[2];
static void release(void *data) {
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  if (strncmp(name, "sluice-blocking", 15) == 0) released[1]++;
  (*(int *)data)++;
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  sluice_token token;
  tell(instance, "suspend", host_of(instance)->exchange->suspend(exchange, &token));
  host_of(instance)->exchange->data_set(exchange, released, release);
  tell(instance, "blocked", 1);
#ifdef GATE
  close(open(GATE, O_RDONLY | O_CLOEXEC));
#else
  while (sem_wait(&gate) != 0) {
  }
#endif
  if (sluice_request_header(host_of(instance), exchange, "x-end-thread").data) pthread_exit(NULL);
  sluice_set_request_header(host_of(instance), exchange, "x-blocked", "yes");
  tell(instance, "done", 1);
  if (sluice_request_header(host_of(instance), exchange, "x-fail").data)
    return sluice_fail(host_of(instance), exchange, "blocked", "as was asked");
  return SLUICE_VERDICT_CONTINUE;
}

#ifdef SERIAL
#define FLAGS (SLUICE_FLAG_SERIAL | SLUICE_FLAG_BLOCKING)
#define ON_REDIRECT on_redirect
static sluice_verdict on_redirect(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect) {
  (void)redirect;
  sluice_token token;
  tell(instance, "redirect", host_of(instance)->exchange->suspend(exchange, &token));
  return SLUICE_VERDICT_SUSPENDED;
}
#else
#define FLAGS SLUICE_FLAG_BLOCKING
#define ON_REDIRECT NULL
#endif

static void on_cancel(void *instance, sluice_token token) {
  (void)token;
  tell(instance, "cancel", 1);
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  return SLUICE_VERDICT_CONTINUE;
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .flags = FLAGS, .on_request = on_request, .on_redirect = ON_REDIRECT,
                 .on_response = on_response, .on_cancel = on_cancel);

static const void *extension(const char *id) {
  if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &table;
  if (strcmp(id, "fixture.released") == 0) return released;
  return strcmp(id, "fixture.gate") == 0 ? (const void *)&gate : NULL;
}

FIXTURE_PLUGIN(FIXTURE_LIFE, .extension = extension);
