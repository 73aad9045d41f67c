// The only way in which a process that runs foreign code ends. Written in C because of signal handlers and on_exit(3), and
// because the sanitizers and the profiler must be asked to do their work at exit.
#ifndef SLUICE_PROCESS_END_H
#define SLUICE_PROCESS_END_H
#include <stdint.h>

/// Called when foreign code has called exit(3) or quick_exit(3): on the thread that did, with its status, at most once. It
/// must end in `sluice_end_process`.
typedef void (*sluice_exit_handler)(int status);

/// The handler's status after quick_exit(3), which does not reveal its own.
#define SLUICE_UNKNOWN_STATUS (-1)

/// Makes exit(3) call the handler. The function that was registered last runs first: call this again after foreign code
/// could register its own functions, so that the handler runs before them. Processes that are forked from this one are
/// not affected. [any]
void sluice_watch_exit(sluice_exit_handler handler);

/// Flushes the buffers of stdio and ends the process, without calling any function that was registered for its end and
/// without destructors of libraries. Flushing is given up when it takes longer than the limit or crashes; the status stays
/// the same.
///
/// When another thread is already ending the process, this waits for that thread. [any]
_Noreturn void sluice_end_process(int status, uint32_t limit_milliseconds);

#endif
