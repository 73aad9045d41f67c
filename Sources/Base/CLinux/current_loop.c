#define _GNU_SOURCE
#include "current_loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "sanitized.h"

#ifdef IS_ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
#endif

_Thread_local const void *_Nullable sluice_thread_loop;

uint64_t sluice_thread_identity(void) {
  static atomic_uint threads;
  static _Thread_local uint64_t identity;
  if (identity == 0) identity = (uint64_t)(atomic_fetch_add(&threads, 1) + 1) << 32 | (uint32_t)gettid();
  return identity;
}

typedef struct thread_watch {
  void (*end)(const void *context);
  const void *context;
} thread_watch;

static pthread_key_t watch_key;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static int has_key;
static _Thread_local thread_watch watch;

static void thread_ends(void *context) {
  const thread_watch *left = context;
#ifdef IS_ADDRESS_SANITIZED
  // pthread_exit does not return from the thread's functions, so their frames are still marked as in use.
  __asan_handle_no_return();
#endif
  if (left->end) left->end(left->context);
}

static void make_key(void) { has_key = pthread_key_create(&watch_key, thread_ends) == 0; }

void sluice_watch_thread(const void *context, void (*end)(const void *context)) {
  watch.end = end;
  watch.context = context;
  pthread_once(&watch_once, make_key);
  // If no key is available, the end of a loop's thread is not noticed, and the loop counts as stuck.
  if (has_key) pthread_setspecific(watch_key, &watch);
}

void sluice_unwatch_thread(void) { watch.end = NULL; }

void sluice_enter_loop(const void *loop, void (*end)(const void *loop)) {
  sluice_thread_loop = loop;
  sluice_watch_thread(loop, end);
}

void sluice_leave_loop(void) {
  sluice_unwatch_thread();
  sluice_thread_loop = NULL;
}
