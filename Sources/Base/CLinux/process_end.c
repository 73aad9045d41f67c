#define _GNU_SOURCE
#include "process_end.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "sanitized.h"

/// The longest time that a thread waits for another thread to end the process.
#define LONGEST_END_SECONDS 10
#define STATUS_OF_GIVING_UP 70
/// The number of threads that may take an entry at the same time; see `sluice_watch_exit`.
#define ENTRIES 8

extern void __lsan_do_leak_check(void) __attribute__((weak));
extern int __llvm_profile_write_file(void) __attribute__((weak));

static _Atomic(sluice_exit_handler) watcher;
static _Atomic pid_t process;
/// The thread that ends the process.
static _Atomic pid_t owner;
static _Atomic int end_status;

static pid_t this_thread(void) { return (pid_t)syscall(SYS_gettid); }

// MARK: Who ends the process

/// Returns only in the first thread that calls it, and returns each time that this thread calls it. All other threads
/// wait here.
static void claim_end(void) {
  pid_t nobody = 0;
  if (atomic_compare_exchange_strong(&owner, &nobody, this_thread()) || nobody == this_thread()) return;
  struct timespec left = {.tv_sec = LONGEST_END_SECONDS};
  while (nanosleep(&left, &left) != 0) {}
  _exit(STATUS_OF_GIVING_UP);
}

static void exit_was_called(int status) {
  // A child that a plugin has forked may end in any way.
  if (getpid() != atomic_load(&process)) return;
  // exit was called again, by code that runs during the flush or that the handler calls.
  if (atomic_load(&owner) == this_thread()) _exit(atomic_load(&end_status));
  claim_end();
  atomic_store(&end_status, STATUS_OF_GIVING_UP);
  const sluice_exit_handler handler = atomic_load(&watcher);
  if (handler) handler(status);
  _exit(STATUS_OF_GIVING_UP);
}

/// Whether another thread may still call exit. The calling thread does not return from exit.
static int is_first_call(void) { return getpid() == atomic_load(&process) && atomic_load(&owner) != this_thread(); }

static void on_exit_called(int status, void *context) {
  (void)context;
  if (is_first_call()) on_exit(on_exit_called, NULL);
  exit_was_called(status);
}

static void on_quick_exit(void) {
  if (is_first_call()) at_quick_exit(on_quick_exit);
  exit_was_called(SLUICE_UNKNOWN_STATUS);
}

void sluice_watch_exit(sluice_exit_handler handler) {
  atomic_store(&watcher, handler);
  atomic_store(&process, getpid());
  // Each thread that calls exit takes one entry from the list, puts another one in its place, and does not return. A
  // thread that found no entry would end the process with its own status.
  for (int entry = 0; entry < ENTRIES; entry++) {
    on_exit(on_exit_called, NULL);
    at_quick_exit(on_quick_exit);
  }
}

// MARK: The end

static void cut_short(int signal) {
  if (signal == SIGALRM || atomic_load(&owner) == this_thread()) _exit(atomic_load(&end_status));
  // Another thread has crashed. On that thread, the signal gets its default effect.
  const struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(signal, &action, NULL);
  syscall(SYS_tgkill, getpid(), this_thread(), signal);
}

static void take(int signal) {
  const struct sigaction action = {.sa_handler = cut_short, .sa_flags = SA_ONSTACK};
  sigset_t set;
  sigaction(signal, &action, NULL);
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/// Flushes the streams of stdio within a time limit. Plugins may own the text in the buffers, and even the streams, so
/// flushing can hang or crash.
static void flush_within(uint32_t limit) {
  const struct itimerval timer = {.it_value = {.tv_sec = limit / 1000, .tv_usec = limit % 1000 * 1000}};
  signal(SIGPIPE, SIG_IGN);
  take(SIGALRM);
#ifndef IS_SANITIZED
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) take(faults[index]);
#endif
  setitimer(ITIMER_REAL, &timer, NULL);
  fflush(NULL);
  // The leak check of a sanitizer and the writing of a profile have no time limit.
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

_Noreturn void sluice_end_process(int status, uint32_t limit_milliseconds) {
  claim_end();
  atomic_store(&end_status, status);
  flush_within(limit_milliseconds > 0 ? limit_milliseconds : 1);
  if (__llvm_profile_write_file) __llvm_profile_write_file();
  if (__lsan_do_leak_check) __lsan_do_leak_check();
  // The thread sanitizer intercepts this call, and sets its own status if it has found something.
  _exit(status);
}
