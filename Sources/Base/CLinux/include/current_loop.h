// Stores which event loop runs on this thread. In C because Swift has no thread-local variables.
#ifndef SLUICE_CURRENT_LOOP_H
#define SLUICE_CURRENT_LOOP_H
#include <stdint.h>

/// The loop that runs on the calling thread, or NULL. Only the code that set the pointer may convert it back to an
/// object; all other code may only compare it.
extern _Thread_local const void *_Nullable sluice_thread_loop;

static inline const void *_Nullable sluice_current_loop(void) { return sluice_thread_loop; }

/// Sets the loop of the calling thread. If the thread ends without `sluice_leave_loop`, `end` is called once on this
/// thread. That happens when code that the loop has called uses `pthread_exit`.
void sluice_enter_loop(const void *_Nonnull loop, void (*_Nonnull end)(const void *_Nonnull loop));

/// Notes that the calling thread no longer runs a loop.
void sluice_leave_loop(void);

/// Identifies the calling thread: its kernel id in the lower 32 bits, and in the upper 32 bits a number that no other
/// thread of the process has had. Never 0.
uint64_t sluice_thread_identity(void);

/// If the calling thread ends without `sluice_unwatch_thread`, `end` is called once on this thread. That happens when
/// code that the thread has called uses `pthread_exit`.
void sluice_watch_thread(const void *_Nonnull context, void (*_Nonnull end)(const void *_Nonnull context));

void sluice_unwatch_thread(void);

#endif
