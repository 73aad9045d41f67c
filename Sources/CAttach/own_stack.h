// Stacks for calls of the host. The room on the stack of a coroutine is not known, and a thread can have a small stack.
#ifndef SLUICE_ATTACH_OWN_STACK_H
#define SLUICE_ATTACH_OWN_STACK_H
#include <stdbool.h>

/// Reserves a stack for this thread if its current one may have too little room. Further calls change nothing.
///
/// @return false if there is no memory for a stack
bool own_stack_reserve(void);

/// Gives the reserved stack back.
void own_stack_release(void);

/// Calls a function on the reserved stack, or on the current one if none is reserved.
void own_stack_call(void (*function)(void *context), void *context);

#endif
