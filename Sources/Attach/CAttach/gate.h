// Which threads are inside the host. A fork() waits for them.
#ifndef SLUICE_ATTACH_GATE_H
#define SLUICE_ATTACH_GATE_H
#include <stdbool.h>
#include <time.h>

/// Whether this thread is inside the host. If so, a transfer that the thread makes belongs to a stage.
bool gate_is_inside(void);

/// Notes that this thread goes into the host, without a lock that a fork() takes.
void gate_go_in(void);
void gate_go_out(void);

/// Lets a thread of the program into the host; waits for a fork().
void gate_enter(void);
void gate_leave(void);

/// Waits until no thread is inside the host and all threads of the host pause, at most until a time of CLOCK_MONOTONIC.
void gate_wait(const struct timespec *until);

/// The functions `begin_thread`, `pause` and `resume` of `struct sluice_attach_program`.
void gate_begin_host_thread(void);
int gate_pause(void);
void gate_resume(void);

/// Closes the gate before a fork(), like `gate_wait`.
void gate_close(const struct timespec *until);

/// Call it in the parent after `gate_close`.
void gate_open(void);

/// Call it in the child after `gate_close`.
///
/// @return whether no other thread was inside the host
bool gate_open_in_child(void);

#endif
