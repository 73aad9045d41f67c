// Ends a process that runs foreign code. Such a process must not be ended in another way. Written in C because of
// signal handlers and on_exit(3), and because the sanitizers and the profiler must be called explicitly at the end.
#ifndef SLUICE_PROCESS_END_H
#define SLUICE_PROCESS_END_H
#include <stdint.h>

/// Called at most once, when foreign code has called exit(3) or quick_exit(3), on the thread of that call and with its
/// status. The handler must end with a call of `sluice_end_process`.
typedef void (*sluice_exit_handler)(int status);

/// The status that the handler gets after quick_exit(3), which does not pass on the status of its caller.
#define SLUICE_UNKNOWN_STATUS (-1)

/// Makes exit(3) call the handler. The function that was registered last runs first: call this again whenever foreign
/// code may have registered its own functions, so that the handler runs before them. Processes that are forked from
/// this one are not affected. [any]
void sluice_watch_exit(sluice_exit_handler handler);

/// Flushes the buffers of stdio and ends the process, without calling any function that was registered for the end of
/// the process, and without destructors of libraries. If flushing takes longer than the limit or crashes, it is
/// abandoned; the status stays the same.
///
/// When another thread is already ending the process, this waits for that thread. [any]
_Noreturn void sluice_end_process(int status, uint32_t limit_milliseconds);

#endif
