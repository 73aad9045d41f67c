// Records which plugin calls run on each thread. The thread writes its record; the crash handler and the watchdog read
// it. In C because of the thread-local variable, and because a signal handler reads it.
//
// Entering and leaving a call are a few plain stores into memory that only this thread writes: no lock, no allocation,
// no clock.
#ifndef SLUICE_CALL_RECORD_H
#define SLUICE_CALL_RECORD_H
#include <stddef.h>
#include <stdint.h>
#include "call_context.h"

/// The number of nested calls that are recorded; deeper calls are only counted.
#define SLUICE_CALL_DEPTH 8

/// The subject of a call: one build of a plugin, and its instance if there is one. The subject and its texts are never
/// freed. No text has a line break.
typedef struct sluice_call_subject {
  /// The next subject in the list: the one that was added before this one.
  const struct sluice_call_subject *_Nullable next;
  /// The name in the configuration; empty before there is an instance.
  const char *_Nonnull stage;
  /// The plugin's own id; empty until the plugin's table is known.
  const char *_Nonnull plugin;
  /// The path of the library in the configuration.
  const char *_Nonnull library;
  /// The private copy that is mapped.
  const char *_Nonnull copy;
  /// SHA-256 of the library, in hex.
  const char *_Nonnull hash;
  /// The generation of the build; 0 if the build has none yet.
  int64_t generation;
} sluice_call_subject;

typedef struct sluice_call_frame {
  /// A number that no other call in the process has, and that is never 0. It is written first.
  uint64_t number;
  const sluice_call_subject *_Nullable subject;
  /// The transaction's id; both 0 if the call belongs to no transaction.
  uint64_t transaction_high, transaction_low;
  /// The called function of the plugin, as the number that the host gives to this function.
  uint32_t callback;
  uint32_t attempt;
} sluice_call_frame;

/// The calls of one thread that has called a plugin. A record is never freed: when its thread ends, another thread
/// reuses it.
typedef struct sluice_call_record {
  struct sluice_call_record *_Nullable next;
  /// Whether a thread uses the record.
  uint32_t is_taken;
  /// Whether the state of the process is compared around each call (process_watch.h).
  uint32_t is_watched;
  int32_t thread;
  char thread_name[16];
  /// The number of nested calls that are running.
  uint32_t depth;
  /// The event loop that runs on the thread; NULL for other threads.
  const void *_Nullable loop;
  void *_Nullable alternate_stack;
  sluice_call_frame frames[SLUICE_CALL_DEPTH];
} sluice_call_record;

/// Puts the subject into a list in which the crash handler finds it; it stays there until the process ends.
void sluice_keep_call_subject(sluice_call_subject *_Nonnull subject);

/// The subjects in that list, the newest first. [any, signal handlers too]
const sluice_call_subject *_Nullable sluice_call_subjects(void);

/// The list of all records, including those of threads that have ended. [any, signal handlers too]
const sluice_call_record *_Nullable sluice_call_records(void);

/// Gives the calling thread a record until it ends, and an alternate stack if crashes are handled. NULL if there is no
/// memory; the calls of the thread are then unknown.
sluice_call_record *_Nullable sluice_take_call_record(void);

/// Gives the calling thread an alternate stack, and from now on each thread that takes a record.
void sluice_use_alternate_stacks(void);

/// Compares the state of the process before and after the innermost call of a watched thread.
void sluice_note_state(const sluice_call_record *_Nonnull record);
void sluice_compare_state(const sluice_call_record *_Nonnull record);

/// Whether threads that take a record are watched.
int sluice_is_process_watched(void);

/// Records that a call begins on this thread. Call `sluice_end_call` when it has ended.
static inline void sluice_begin_call(
    uint64_t number, const sluice_call_subject *_Nonnull subject, uint64_t transaction_high, uint64_t transaction_low,
    uint32_t callback, uint32_t attempt) {
  sluice_call_record *record = sluice_thread_calls.record;
  if (__builtin_expect(!record, 0)) {
    record = sluice_take_call_record();
    if (!record) return;
  }
  if (__builtin_expect(record->is_watched, 0)) sluice_note_state(record);
  const uint32_t depth = record->depth;
  if (__builtin_expect(depth < SLUICE_CALL_DEPTH, 1)) {
    sluice_call_frame *frame = &record->frames[depth];
    // The number is written first: a reader that finds the same number before and after has read the values of one
    // call.
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
  // If there was no memory for a record when this call began, a nested call may have created the record later.
  if (__builtin_expect(!record || record->depth == 0, 0)) return;
  if (__builtin_expect(record->is_watched, 0)) sluice_compare_state(record);
  __atomic_store_n(&record->depth, record->depth - 1, __ATOMIC_RELEASE);
}

/// The record of the calling thread; NULL if it has none. [any]
static inline const sluice_call_record *_Nullable sluice_own_call_record(void) { return sluice_thread_calls.record; }

/// Reads the innermost call of a thread; returns 0 if no call is running, or if the call ended during the read. [any]
int sluice_read_call(const sluice_call_record *_Nonnull record, sluice_call_frame *_Nonnull innermost);

/// The number of the outermost call; 0 outside of calls. [any]
uint64_t sluice_outermost_call(const sluice_call_record *_Nonnull record);

/// The event loop whose thread uses the record; NULL for a thread without an event loop. Use the pointer only for
/// comparison. [any]
const void *_Nullable sluice_loop_of_record(const sluice_call_record *_Nonnull record);

#endif
