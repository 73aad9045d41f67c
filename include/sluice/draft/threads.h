/// The host's table `sluice.threads/1`: lets a fork() wait for threads of plugins.
///
/// A draft: the table may still change. Only a host inside a program that may call fork(), such as that of
/// `sluice attach`, has it.
#ifndef SLUICE_DRAFT_THREADS_H
#define SLUICE_DRAFT_THREADS_H

#include <stdint.h>

#define SLUICE_THREADS_ID "sluice.threads/1"

/// A child of fork() has only the thread that forks. If another thread holds a lock at that moment, the lock stays
/// locked in the child: a lock of the plugin, or a lock of its language's runtime. So a fork() of the program waits for
/// the threads that run code of the host, and for the plugin's threads that have called `begin`. It does not wait for a
/// thread that pauses. It waits for a limited time; then the child gets no pipeline.
///
/// The functions can be called on any thread, and until the process ends.
typedef struct sluice_threads {
  uint32_t size;
  uint32_t reserved;
  /// A thread that the plugin has started calls it once, before anything else. A fork() then waits for the thread until
  /// the thread ends. The thread no longer keeps the process alive if all threads of the program have ended.
  void (*begin)(void);
  /// Call it on any thread immediately before a call that may wait for long. If the result is not 0, call `resume`
  /// immediately after that call. In between, the thread must not call the host, must not run code that may take a lock
  /// of a runtime, and must hold no lock except the mutex of the condition that it waits for. A child must not use that
  /// mutex. The result is 0 on threads for which no fork() waits.
  int (*pause)(void);
  /// Ends the pause. Waits while a fork() is under way, so release the mutex of a condition before, and lock it again
  /// afterwards.
  void (*resume)(void);
} sluice_threads;
#define SLUICE_THREADS_SIZE_1 32u

#endif
