// What each thread calls of plugins at the moment, written by that thread and read from outside: by the handler of a crash, by
// a watchdog. In C because of the thread-local variable, and because a signal handler reads it.
//
// Entering and leaving a call are a few plain stores into memory that the thread has for itself: no lock, no allocation, no clock.
#ifndef SLUICE_CALL_RECORD_H
#define SLUICE_CALL_RECORD_H
#include <stddef.h>
#include <stdint.h>
#include "call_context.h"

/// Calls inside of calls that are told apart; deeper ones are only counted.
#define SLUICE_CALL_DEPTH 8

/// Who is called: one build of a plugin, and its instance if there is one. It and its texts are never freed. No text
/// has a line break.
typedef struct sluice_call_subject {
  /// The one made before.
  const struct sluice_call_subject *_Nullable next;
  /// The name in the configuration; empty before there is an instance.
  const char *_Nonnull stage;
  /// The plugin's own id; empty before it could say.
  const char *_Nonnull plugin;
  /// As the configuration names it.
  const char *_Nonnull library;
  /// The private copy that is mapped.
  const char *_Nonnull copy;
  /// SHA-256 of the library, in hex.
  const char *_Nonnull hash;
  /// 0 before it has one.
  int64_t generation;
} sluice_call_subject;

typedef struct sluice_call_frame {
  /// A number that no other call in the process has; never 0. Written first.
  uint64_t number;
  const sluice_call_subject *_Nullable subject;
  /// The transaction's id; both 0 where the call belongs to none.
  uint64_t transaction_high, transaction_low;
  /// Which function of the plugin; the numbers are the host's.
  uint32_t callback;
  uint32_t attempt;
} sluice_call_frame;

/// One for each thread that has called a plugin. Never freed: the next thread takes over what one leaves.
typedef struct sluice_call_record {
  struct sluice_call_record *_Nullable next;
  /// Whether a thread has it.
  uint32_t is_taken;
  int32_t thread;
  char thread_name[16];
  /// Calls under way.
  uint32_t depth;
  /// The event loop whose thread it is; NULL for other threads.
  const void *_Nullable loop;
  void *_Nullable alternate_stack;
  sluice_call_frame frames[SLUICE_CALL_DEPTH];
} sluice_call_record;

/// Keeps the subject until the process ends, where the handler of a crash finds it.
void sluice_keep_call_subject(sluice_call_subject *_Nonnull subject);

/// The subjects kept so far, the latest first. [any, signal handlers too]
const sluice_call_subject *_Nullable sluice_call_subjects(void);

/// The records of all threads that have or had one. [any, signal handlers too]
const sluice_call_record *_Nullable sluice_call_records(void);

/// Gives the calling thread a record, until it ends; and an alternate stack, where crashes are handled. NULL where there is no
/// memory for it: then its calls are not known.
sluice_call_record *_Nullable sluice_take_call_record(void);

/// From here on threads that take a record get an alternate stack; so does the one that calls.
void sluice_use_alternate_stacks(void);

/// Says that a call begins on this thread. Balanced by `sluice_end_call`.
static inline void sluice_begin_call(
    uint64_t number, const sluice_call_subject *_Nonnull subject, uint64_t transaction_high, uint64_t transaction_low,
    uint32_t callback, uint32_t attempt) {
  sluice_call_record *record = sluice_thread_calls.record;
  if (__builtin_expect(!record, 0)) {
    record = sluice_take_call_record();
    if (!record) return;
  }
  const uint32_t depth = record->depth;
  if (__builtin_expect(depth < SLUICE_CALL_DEPTH, 1)) {
    sluice_call_frame *frame = &record->frames[depth];
    // The number first, so that who finds the same one before and after has read what belongs together.
    __atomic_store_n(&frame->number, number, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&frame->subject, subject, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->transaction_high, transaction_high, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->transaction_low, transaction_low, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->callback, callback, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->attempt, attempt, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&record->depth, depth + 1, __ATOMIC_RELEASE);
}

static inline void sluice_end_call(void) {
  sluice_call_record *record = sluice_thread_calls.record;
  // Without a record at the beginning there may be one now, if there was memory for a call inside of this one.
  if (__builtin_expect(!record || record->depth == 0, 0)) return;
  __atomic_store_n(&record->depth, record->depth - 1, __ATOMIC_RELEASE);
}

/// The record of the calling thread; NULL if it has none. [any]
static inline const sluice_call_record *_Nullable sluice_own_call_record(void) { return sluice_thread_calls.record; }

/// Reads the innermost call of a thread at one moment; 0 without a call, or if the call ended meanwhile. [any]
int sluice_read_call(const sluice_call_record *_Nonnull record, sluice_call_frame *_Nonnull innermost);

/// The number of the outermost call; 0 outside of calls. [any]
uint64_t sluice_outermost_call(const sluice_call_record *_Nonnull record);

/// The event loop whose thread has the record, to be compared alone; NULL where none has. [any]
const void *_Nullable sluice_loop_of_record(const sluice_call_record *_Nonnull record);

#endif
