#define _GNU_SOURCE
#include "load_thread.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/// Nobody is told that the thread ends: its data belongs to the libraries that it has loaded.
static void forget_data(void) {
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++)
    if (pthread_getspecific(key)) pthread_setspecific(key, NULL);
}

static void *run(void *context) {
  (*(void (**)(void))context)();
  forget_data();
  return NULL;
}

void load_thread_run(void (*load)(void)) {
  if (gettid() == getpid()) return load();
  sigset_t all, before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int status = pthread_create(&thread, NULL, run, &load);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (status == 0) pthread_join(thread, NULL);
  else load();
}
