#ifndef SLUICE_LAST_THREAD_H
#define SLUICE_LAST_THREAD_H

// A process ends when its last thread has ended. Threads of the host wait until the process ends, and would keep a
// program alive whose main thread ends before the others (`pthread_exit` in `main`).

/// Before `main`, on its thread.
void last_thread_begin(void);

/// The calling thread is one of the host.
void last_thread_note_host(void);

/// In the child of a fork(): the calling thread is the only one.
void last_thread_forked(void);

#endif
