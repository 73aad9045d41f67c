#define _GNU_SOURCE
#include "gate.h"

#include "last_thread.h"
#include "sanitizer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/// Held for reading while a thread of the program is inside the host. A fork() takes it for writing. Writers have
/// priority, so that a fork() does not wait forever under load.
static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
/// Held for reading by each thread of the host that does not pause. A fork() takes it for writing after `gate`: a
/// thread of the program that holds `gate` may be waiting for a thread of the host, which must then continue.
static pthread_rwlock_t host_gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
/// Whether this thread is one of the program, or one of the host that holds `host_gate` or that pauses.
static _Thread_local enum { OF_PROGRAM, RUNNING, PAUSED } role;
/// Whether a thread of the host may be running without `host_gate`.
static _Atomic(bool) has_unwatched_thread;
/// How many times this thread has entered `loading`, `gate` or `host_gate` and has not left it.
static _Thread_local unsigned depth;

void gate_go_in(void) {
  depth++;
  sanitizer_ignore();
}

void gate_go_out(void) {
  sanitizer_heed();
  depth--;
}

bool gate_is_inside(void) { return depth > 0; }

void gate_enter(void) {
  pthread_rwlock_rdlock(&gate);
  gate_go_in();
}

void gate_leave(void) {
  gate_go_out();
  pthread_rwlock_unlock(&gate);
}

void gate_wait(const struct timespec *until) {
  if (pthread_rwlock_clockwrlock(&gate, CLOCK_MONOTONIC, until) == 0) pthread_rwlock_unlock(&gate);
  if (pthread_rwlock_clockwrlock(&host_gate, CLOCK_MONOTONIC, until) == 0) pthread_rwlock_unlock(&host_gate);
}

// MARK: Threads of the host

void gate_begin_host_thread(void) {
  // A plugin may call it on a thread that is already known, or on one of the program.
  if (depth > 0 || role != OF_PROGRAM || gettid() == getpid()) return;
  sanitizer_ignore();
  const bool is_noted = last_thread_note_host();
  sanitizer_heed();
  if (!is_noted) return atomic_store(&has_unwatched_thread, true);
  role = PAUSED;
  gate_resume();
}

int gate_pause(void) {
  if (role != RUNNING) return 0;
  role = PAUSED;
  gate_go_out();
  pthread_rwlock_unlock(&host_gate);
  return 1;
}

void gate_resume(void) {
  if (role != PAUSED) return;
  pthread_rwlock_rdlock(&host_gate);
  role = RUNNING;
  gate_go_in();
}

// MARK: fork()

// Written before fork() and read after it, by the thread that forks. The caller lets only one thread fork at a time.
static bool has_gate, has_host_gate;

void gate_close(const struct timespec *until) {
  has_gate = pthread_rwlock_clockwrlock(&gate, CLOCK_MONOTONIC, until) == 0;
  has_host_gate = has_gate && pthread_rwlock_clockwrlock(&host_gate, CLOCK_MONOTONIC, until) == 0;
}

void gate_open(void) {
  if (has_host_gate) pthread_rwlock_unlock(&host_gate);
  if (has_gate) pthread_rwlock_unlock(&gate);
}

bool gate_open_in_child(void) {
  const bool is_whole = has_host_gate && !atomic_exchange(&has_unwatched_thread, false);
  // The locks store the thread id of their writer, and the thread has another id in the child.
  if (has_host_gate) host_gate = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  if (has_gate) gate = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  return is_whole;
}
