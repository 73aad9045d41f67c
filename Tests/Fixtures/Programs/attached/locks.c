// Forks while another thread holds a lock of a Swift runtime: `locks URL THREAD`.
//
// The function pthread_mutex_lock of this program takes the place of libc's, also for the libraries of Sluice. After the
// first transfer, the thread with the name THREAD keeps the first mutex that it locks and that is a global variable of
// such a library. It keeps the mutex until the main thread has forked, but no longer than 10 ms after the main thread
// has begun to fork.
#define _GNU_SOURCE
#include "client.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEEPING_MILLISECONDS = 10, LONGEST_WAIT_MILLISECONDS = 20000 };

static const char *thread_name = "";
static _Atomic(pthread_mutex_t *) kept;
static _Atomic bool has_made_transfer, has_lock, is_forking, has_forked;

static bool is_in_library(void *address) {
  struct dl_find_object found;
  return _dl_find_object(address, &found) == 0 && strstr(found.dlfo_link_map->l_name, "sluice");
}

/// Waits until the flag is set, but not longer than the limit.
static void wait_for(_Atomic bool *flag, int limit_milliseconds) {
  for (int waited = 0; waited < limit_milliseconds && !atomic_load(flag); waited++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static bool has_name(void) {
  char name[16] = "";
  return prctl(PR_GET_NAME, name) == 0 && strcmp(name, thread_name) == 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static _Atomic(__typeof__(pthread_mutex_lock) *) lock;
  if (!atomic_load(&lock)) atomic_store(&lock, (__typeof__(pthread_mutex_lock) *)dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  const bool may_keep = gettid() != getpid() && !atomic_load(&kept) && has_name();
  if (may_keep) wait_for(&has_made_transfer, LONGEST_WAIT_MILLISECONDS);
  const int status = atomic_load(&lock)(mutex);
  if (!may_keep || !is_in_library(mutex)) return status;
  atomic_store(&kept, mutex);
  atomic_store(&has_lock, true);
  wait_for(&is_forking, LONGEST_WAIT_MILLISECONDS);
  wait_for(&has_forked, KEEPING_MILLISECONDS);
  return status;
}

static void announce(void) { atomic_store(&is_forking, true); }

static void get(const char *url, const char *path) {
  CURL *easy = open_client(url, path);
  perform(easy);
  curl_easy_cleanup(easy);
  fflush(stdout);
}

static int run_child(const char *url) {
  // A child that hangs must not block the test.
  alarm(60);
  const int status = pthread_mutex_trylock(atomic_load(&kept));
  if (status == 0) pthread_mutex_unlock(atomic_load(&kept));
  printf("the lock is %s\n", status == 0 ? "free" : "held by no thread");
  get(url, "/child");
  return 0;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  thread_name = words[2];
  // Handlers run in the reverse order of their registration: this one runs before that of Sluice.
  pthread_atfork(announce, NULL, NULL);
  get(words[1], "/parent");
  atomic_store(&has_made_transfer, true);
  wait_for(&has_lock, LONGEST_WAIT_MILLISECONDS);
  if (!atomic_load(&has_lock)) {
    printf("the thread has taken no lock\n");
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) exit(run_child(words[1]));
  atomic_store(&has_forked, true);
  int status = 0;
  waitpid(child, &status, 0);
  printf("the child ended with %x\n", (unsigned)status);
  return 0;
}
