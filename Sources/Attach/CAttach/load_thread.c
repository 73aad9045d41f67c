#define _GNU_SOURCE
#include "load_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/// How long the thread waits for the loader.
enum { LOADER_LIMIT_SECONDS = 1 };
/// The least size of the thread's stack. The default size is the program's, which may be too small.
enum { LEAST_STACK_BYTES = 1 << 20 };

/// The work of one thread. The thread frees it if the caller has given up waiting; otherwise the caller frees it.
struct work {
  void (*load)(void);
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool has_loader, is_given_up;
};

/// The keys that have data on this thread.
struct keys {
  bool have_data[PTHREAD_KEYS_MAX];
};

static void note_data(struct keys *keys) {
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) keys->have_data[key] = pthread_getspecific(key) != NULL;
}

/// Clears the thread-specific data that the loaded libraries have set, so that their destructors do not run when the
/// thread ends. Data from before stays: a thread sanitizer needs its own until the thread has ended.
static void forget_data(const struct keys *before) {
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++)
    if (!before->have_data[key] && pthread_getspecific(key)) pthread_setspecific(key, NULL);
}

static void drop(struct work *work) {
  pthread_cond_destroy(&work->changed);
  pthread_mutex_destroy(&work->lock);
  free(work);
}

/// Waits until no other thread is loading a library. `dlopen` returns a reference to the program itself. The program is
/// never unloaded, so the reference is not released.
static void wait_for_loader(void) { dlopen(NULL, RTLD_LAZY); }

static void *run(void *context) {
  struct work *work = context;
  wait_for_loader();
  pthread_mutex_lock(&work->lock);
  const bool is_given_up = work->is_given_up;
  work->has_loader = true;
  pthread_cond_signal(&work->changed);
  pthread_mutex_unlock(&work->lock);
  if (is_given_up) {
    drop(work);
    return NULL;
  }
  struct keys before;
  note_data(&before);
  work->load();
  forget_data(&before);
  return NULL;
}

static bool start(pthread_t *thread, struct work *work) {
  pthread_attr_t attributes;
  size_t size = 0;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_getstacksize(&attributes, &size);
  if (size < LEAST_STACK_BYTES) pthread_attr_setstacksize(&attributes, LEAST_STACK_BYTES);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int status = pthread_create(thread, &attributes, run, work);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return status == 0;
}

/// @return whether the thread has done the work
static bool wait_for(pthread_t thread, struct work *work) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += LOADER_LIMIT_SECONDS;
  pthread_mutex_lock(&work->lock);
  int status = 0;
  while (!work->has_loader && status != ETIMEDOUT)
    status = pthread_cond_clockwait(&work->changed, &work->lock, CLOCK_MONOTONIC, &limit);
  work->is_given_up = !work->has_loader;
  const bool is_given_up = work->is_given_up;
  pthread_mutex_unlock(&work->lock);
  if (is_given_up) {
    pthread_detach(thread);
    return false;
  }
  pthread_join(thread, NULL);
  drop(work);
  return true;
}

void load_thread_run(void (*load)(void)) {
  struct work *work = gettid() == getpid() ? NULL : calloc(1, sizeof *work);
  if (!work) return load();
  work->load = load;
  pthread_mutex_init(&work->lock, NULL);
  pthread_cond_init(&work->changed, NULL);
  pthread_t thread;
  if (!start(&thread, work)) {
    drop(work);
    return load();
  }
  // The calling thread itself may be loading a library whose constructor makes the transfer.
  if (!wait_for(thread, work)) load();
}
