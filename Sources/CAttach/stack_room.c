#define _GNU_SOURCE
#include "stack_room.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/// The stack that a call of the host needs if it runs a stage in Swift, with a margin: 48 KiB were enough in tests.
enum { ROOM_BYTES = 64 << 10 };

/// The bounds of the thread's stack. `lowest` is 0 before the system was asked, and 1 if the system did not report the
/// bounds.
static _Thread_local uintptr_t lowest, highest;

bool stack_has_room(void) {
  if (lowest == 0) {
    pthread_attr_t attributes;
    void *address = NULL;
    size_t size = 0;
    lowest = 1;
    highest = UINTPTR_MAX;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      if (pthread_attr_getstack(&attributes, &address, &size) == 0) {
        lowest = (uintptr_t)address;
        highest = lowest + size;
      }
      pthread_attr_destroy(&attributes);
    }
  }
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  // The thread does not run on the stack that the system gave it, but for example on that of a coroutine. The bounds of
  // such a stack are not known.
  if (here < lowest || here > highest) return false;
  return here - lowest >= ROOM_BYTES;
}
