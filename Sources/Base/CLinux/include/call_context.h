// Stores which plugin call runs on this thread, and gives each call a unique number. In C because Swift has no
// thread-local variables.
#ifndef SLUICE_CALL_CONTEXT_H
#define SLUICE_CALL_CONTEXT_H
#include <stdint.h>

/// A thread takes this many numbers at a time, so that threads seldom use the shared counter.
#define SLUICE_CALL_NUMBER_BLOCK (UINT64_C(1) << 20)

struct sluice_call_record;

struct sluice_thread_calls {
  /// The innermost call, owned by the frame that has set it; NULL outside of calls.
  void *_Nullable current;
  uint64_t next_number;
  /// The record with which other threads can read this thread's calls (call_record.h); NULL before the first call.
  struct sluice_call_record *_Nullable record;
};

extern _Thread_local struct sluice_thread_calls sluice_thread_calls;

/// Takes a block of numbers that no thread had before, and returns the first number to use.
uint64_t sluice_take_call_numbers(void);

static inline void *_Nullable sluice_current_call(void) { return sluice_thread_calls.current; }

static inline void sluice_set_current_call(void *_Nullable call) { sluice_thread_calls.current = call; }

/// A number that no other call of the process has, on any thread.
static inline uint64_t sluice_next_call_number(void) {
  uint64_t number = sluice_thread_calls.next_number;
  if (number % SLUICE_CALL_NUMBER_BLOCK == 0) number = sluice_take_call_numbers();
  sluice_thread_calls.next_number = number + 1;
  return number;
}

#endif
