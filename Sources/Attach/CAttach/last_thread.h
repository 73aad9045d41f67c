#ifndef SLUICE_LAST_THREAD_H
#define SLUICE_LAST_THREAD_H
#include <stdbool.h>

// A process ends when its last thread has ended. Threads of the host wait until the process ends. So they would keep a
// program alive forever if its main thread ends with `pthread_exit`.

/// Call it before `main`, on the main thread.
///
/// @param pause is called by each thread of the host when it ends
void last_thread_begin(int (*pause)(void));

/// Notes that the calling thread is a thread of the host.
///
/// @return false if the end of the thread cannot be noticed
bool last_thread_note_host(void);

/// Call it in the child of a fork(), where the calling thread is the only one.
void last_thread_forked(void);

#endif
