// A separate thread waits until all threads of the program have ended. It starts only when the main thread has ended
// and threads of the host exist.
#define _GNU_SOURCE
#include "last_thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/// The smallest number that the key may have. Libraries in another namespace of the loader (dlmopen) have a libc of
/// their own, which gives out the same small numbers once more, for the same data.
enum { FIRST_KEY = 256 };
enum { SHORTEST_PAUSE_MILLISECONDS = 5, LONGEST_PAUSE_MILLISECONDS = 250 };

/// Libc calls the destructor `ended` when a thread ends, but not at the end of the process.
static pthread_key_t key;
static bool has_key;
static int (*pause_host_thread)(void);
/// The values of the key point to these variables.
static const char main_thread, host_thread;

/// Whether libc calls `ended` for the second time on this thread. It does so if the first call has set the key again.
static _Thread_local bool is_last_round;

static _Atomic(bool) has_main_ended, is_watching;
static _Atomic(long) host_threads;

// MARK: Watching

/// Reads the state of the main thread and the number of all threads, which counts the main thread after its end too.
static bool read_threads(char *state, long *count) {
  char text[1024];
  const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = 0;
  // The name of the program may contain a parenthesis.
  const char *name_end = strrchr(text, ')');
  return name_end && sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                            state, count) == 2;
}

/// Whether no thread of the program exists any more. A thread that starts another thread is counted until the new
/// thread is counted.
static bool is_over(void) {
  char state = 0;
  long count = 0;
  // `host_threads` is read first: a thread of the host that starts in between then counts as a thread of the program.
  const long others = atomic_load(&host_threads) + 2;
  return read_threads(&state, &count) && state == 'Z' && count <= others;
}

static void *watch(void *unused) {
  long pause = SHORTEST_PAUSE_MILLISECONDS;
  while (!is_over()) {
    const struct timespec time = {.tv_nsec = pause * 1000000L};
    nanosleep(&time, NULL);
    pause = 2 * pause < LONGEST_PAUSE_MILLISECONDS ? 2 * pause : LONGEST_PAUSE_MILLISECONDS;
  }
  // Libc also ends the process with 0 when the last thread ends.
  exit(0);
  return unused;
}

static void watch_if_needed(void) {
  if (!atomic_load(&has_main_ended) || atomic_load(&host_threads) == 0) return;
  if (atomic_exchange(&is_watching, true)) return;
  sigset_t all, before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
  else atomic_store(&is_watching, false);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// MARK: Threads

static void ended(void *value) {
  if (value == &host_thread) {
    // The destructors of other keys may run code of the host, so they run first.
    if (!is_last_round) {
      is_last_round = pthread_setspecific(key, value) == 0;
      if (is_last_round) return;
    }
    // From here on, no fork() waits for this thread.
    pause_host_thread();
    atomic_fetch_sub(&host_threads, 1);
  } else {
    atomic_store(&has_main_ended, true);
    watch_if_needed();
  }
}

/// Creates the key. The smaller keys are free again afterwards.
static bool make_key(void) {
  pthread_key_t smaller[FIRST_KEY];
  size_t count = 0;
  bool is_made = false;
  while (pthread_key_create(&key, ended) == 0 && !(is_made = key >= FIRST_KEY || count == FIRST_KEY))
    smaller[count++] = key;
  while (count > 0) pthread_key_delete(smaller[--count]);
  return is_made;
}

void last_thread_begin(int (*pause)(void)) {
  pause_host_thread = pause;
  has_key = make_key();
  if (has_key) pthread_setspecific(key, &main_thread);
}

bool last_thread_note_host(void) {
  if (!has_key || pthread_setspecific(key, &host_thread) != 0) return false;
  atomic_fetch_add(&host_threads, 1);
  watch_if_needed();
  return true;
}

void last_thread_forked(void) {
  atomic_store(&has_main_ended, false);
  atomic_store(&is_watching, false);
  atomic_store(&host_threads, 0);
  if (has_key) pthread_setspecific(key, &main_thread);
}
