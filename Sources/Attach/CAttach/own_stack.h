// Room for calls of the host. The stack of a coroutine can be small, and its bounds are not known; a thread can have a
// small stack too.
#ifndef SLUICE_ATTACH_OWN_STACK_H
#define SLUICE_ATTACH_OWN_STACK_H
#include <stdbool.h>

/// Reserves a stack for this thread if its own stack may have too little room. Further calls change nothing.
///
/// @return false if there is no memory for a stack
bool own_stack_reserve(void);

/// Gives the reserved stack back.
void own_stack_release(void);

/// Calls a function on the reserved stack. If none is reserved, calls it on the thread's own stack, far below the part
/// that is in use.
void own_stack_call(void (*function)(void *context), void *context);

#endif
