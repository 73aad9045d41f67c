#include "call_context.h"

#include <stdatomic.h>

_Thread_local struct sluice_thread_calls sluice_thread_calls;

static _Atomic uint64_t next_block;

uint64_t sluice_take_call_numbers(void) {
  uint64_t block = atomic_fetch_add_explicit(&next_block, 1, memory_order_relaxed);
  // The first number of a block is never used for a call: when the counter reaches it, the thread takes the next block.
  return block * SLUICE_CALL_NUMBER_BLOCK + 1;
}
