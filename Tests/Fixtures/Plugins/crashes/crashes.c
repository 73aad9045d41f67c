// Crashes its process. CRASH names the kind of crash.
#define _POSIX_C_SOURCE 200809L
#include "../stage.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

typedef enum {
  NOTHING, IN_REQUEST, IN_RESPONSE, IN_ISSUE, IN_CREATE, IN_ACTIVATE, IN_CONSTRUCTOR, IN_RELEASE, OVERFLOWS_STACK, ABORTS_ON_THREAD, JUMPS_NOWHERE,
  LOSES_STACK, PASSES_BAD_POINTER, ON_MANY_THREADS, SENDS_ITSELF, AFTER_POST, IN_CHILD
} crash;
#ifndef CRASH
#define CRASH IN_REQUEST
#endif

__attribute__((noinline)) static void write_to_nowhere(void) {
  int *volatile nothing = NULL;
  nothing[2] = 1;
}

__attribute__((noinline)) static int descend(volatile int depth) {
  volatile char room[1024];
  room[0] = (char)depth;
  // This condition is never true, but the compiler does not know that.
  if (room[0] != (char)depth) return 0;
  return descend(depth + 1) + room[0];
}

static void *abort_here(void *context) {
  (void)context;
  abort();
}

static pthread_barrier_t barrier;

static void *crash_together(void *context) {
  (void)context;
  pthread_barrier_wait(&barrier);
  write_to_nowhere();
  return NULL;
}

static void crash_on_many_threads(void) {
  pthread_barrier_init(&barrier, NULL, 8);
  pthread_t thread;
  for (int count = 0; count < 7; count++) pthread_create(&thread, NULL, crash_together, NULL);
  crash_together(NULL);
}

static void jump_nowhere(void) {
  void (*volatile function)(void) = NULL;
  function();
}

static void lose_stack(void) {
#if defined(__x86_64__)
  __asm__ volatile("mov $1, %rsp\n mov $1, %rbp\n ud2");
#else
  __asm__ volatile("mov x29, #1\n mov sp, x29\n brk #1");
#endif
}

static void post_crash(void *context) {
  (void)context;
  write_to_nowhere();
}

static void release(void *data) {
  (void)data;
  write_to_nowhere();
}

static void on_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, abort_here, NULL);
  pthread_join(thread, NULL);
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  switch ((crash)CRASH) {
    case IN_REQUEST: write_to_nowhere(); break;
    case OVERFLOWS_STACK: return (sluice_verdict)descend(0);
    case ABORTS_ON_THREAD: on_thread(); break;
    case JUMPS_NOWHERE: jump_nowhere(); break;
    case LOSES_STACK: lose_stack(); break;
    case PASSES_BAD_POINTER: host_of(instance)->extension(host_of(instance), (const char *)16); break;
    case ON_MANY_THREADS: crash_on_many_threads(); break;
    case SENDS_ITSELF: raise(SIGSEGV); break;
    case IN_RELEASE: api_of(instance)->data_set(exchange, instance, release); break;
    case AFTER_POST: host_of(instance)->post(host_of(instance), 0, post_crash, NULL); break;
    case IN_CHILD:
      if (fork() == 0) write_to_nowhere();
      break;
    default: break;
  }
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  if (CRASH == IN_ISSUE) write_to_nowhere();
  return SLUICE_VERDICT_CONTINUE;
}

static sluice_verdict on_response(void *instance, sluice_exchange *exchange) {
  (void)instance, (void)exchange;
  if (CRASH == IN_RESPONSE) write_to_nowhere();
  return SLUICE_VERDICT_CONTINUE;
}

__attribute__((constructor)) static void construct(void) {
  if (CRASH == IN_CONSTRUCTOR) write_to_nowhere();
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  if (CRASH == IN_CREATE) write_to_nowhere();
  return fixture_create(host, config, instance, error);
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)instance, (void)error;
  if (CRASH == IN_ACTIVATE) write_to_nowhere();
  return SLUICE_STATUS_OK;
}

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor =
      SLUICE_TABLE(sluice_interceptor, .on_request = on_request, .on_issue = on_issue, .on_response = on_response);
  return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &interceptor : NULL;
}

FIXTURE_PLUGIN(.create = create, .activate = activate, .destroy = fixture_destroy, .extension = extension);
