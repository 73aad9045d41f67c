// The one end of a process that runs code of others. In C because of signal handlers, of on_exit(3), and because the
// sanitizers and the profiler have to be asked for what they do at exit.
#ifndef SLUICE_PROCESS_END_H
#define SLUICE_PROCESS_END_H
#include <stdint.h>

/// What is called where code of others has called exit(3) or quick_exit(3): on the thread that did, with its status, at most
/// once. It has to end in `sluice_end_process`.
typedef void (*sluice_exit_handler)(int status);

/// The status of exit(3) is not known for quick_exit(3).
#define SLUICE_UNKNOWN_STATUS (-1)

/// Has exit(3) call the handler. What was registered last runs first: called again when code of others had the chance to
/// register functions of its own, this one is before them. Processes that are forked from this one are left alone. [any]
void sluice_watch_exit(sluice_exit_handler handler);

/// Writes what is in the buffers of stdio, and ends the process without any function that was registered for its end, and
/// without destructors of libraries. A buffer that takes longer than the limit, or whose flushing crashes, is given up, and
/// the status stays what it is.
///
/// Where another thread is about to end the process, this waits for that. [any]
_Noreturn void sluice_end_process(int status, uint32_t limit_milliseconds);

#endif
