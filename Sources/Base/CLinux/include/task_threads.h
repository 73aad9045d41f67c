// Runs Swift's tasks where libdispatch cannot.
#ifndef SLUICE_TASK_THREADS_H
#define SLUICE_TASK_THREADS_H
#include <stdbool.h>

/// Makes Swift's runtime run tasks on this number of new threads, instead of on those of libdispatch. A task that
/// sleeps still wakes up on a thread of libdispatch. The threads end with the process. Call this once, before the first
/// task.
///
/// @return false if the runtime cannot do that, or if no thread could be started. Tasks then run as before.
bool sluice_run_tasks_on_threads(int count);

#endif
