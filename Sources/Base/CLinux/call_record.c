#define _GNU_SOURCE
#include "call_record.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "current_loop.h"

/// This is enough for the unwinder, which needs some kilobytes.
#define STACK_BYTES (64 << 10)

static _Atomic(sluice_call_record *) records;
static _Atomic(const sluice_call_subject *) subjects;
static _Atomic int uses_alternate_stacks;

static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void drop_stack(sluice_call_record *record) {
  if (!record->alternate_stack) return;
  const stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  munmap((char *)record->alternate_stack - getpagesize(), STACK_BYTES + getpagesize());
  record->alternate_stack = NULL;
}

static void leave(void *context) {
  sluice_call_record *record = context;
  sluice_thread_calls.record = NULL;
  drop_stack(record);
  // A call has ended the loop's thread with pthread_exit. The record is not reused, so it permanently names this call.
  if (record->loop && record->depth > 0) return;
  __atomic_store_n(&record->depth, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&record->is_taken, 0, __ATOMIC_RELEASE);
}

static void make_thread_end(void) {
  // If no key is available, the records of threads that end are not reused. Nothing else depends on the key.
  pthread_key_create(&thread_end, leave);
}

/// The page below the stack cannot be accessed: if the handler itself runs out of stack, the process ends.
static void take_stack(sluice_call_record *record) {
  stack_t before;
  if (record->alternate_stack || sigaltstack(NULL, &before) != 0 || !(before.ss_flags & SS_DISABLE)) return;
  const size_t guard = getpagesize();
  char *memory = mmap(NULL, STACK_BYTES + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  const stack_t stack = {.ss_sp = memory + guard, .ss_size = STACK_BYTES};
  if (mprotect(memory, guard, PROT_NONE) == 0 && sigaltstack(&stack, NULL) == 0) {
    record->alternate_stack = stack.ss_sp;
  } else {
    munmap(memory, STACK_BYTES + guard);
  }
}

static sluice_call_record *free_record(void) {
  for (sluice_call_record *record = atomic_load(&records); record; record = record->next) {
    uint32_t free = 0;
    if (__atomic_compare_exchange_n(&record->is_taken, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return record;
  }
  return NULL;
}

static sluice_call_record *new_record(void) {
  sluice_call_record *record = calloc(1, sizeof *record);
  if (!record) return NULL;
  record->is_taken = 1;
  record->next = atomic_load(&records);
  while (!atomic_compare_exchange_weak(&records, &record->next, record)) {}
  return record;
}

sluice_call_record *sluice_take_call_record(void) {
  if (sluice_thread_calls.record) return sluice_thread_calls.record;
  pthread_once(&thread_end_once, make_thread_end);
  sluice_call_record *record = free_record();
  if (!record) record = new_record();
  if (!record) return NULL;
  __atomic_store_n(&record->thread, (int32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
  prctl(PR_GET_NAME, record->thread_name, 0, 0, 0);
  __atomic_store_n(&record->loop, sluice_current_loop(), __ATOMIC_RELAXED);
  record->is_watched = sluice_is_process_watched();
  if (atomic_load(&uses_alternate_stacks)) take_stack(record);
  pthread_setspecific(thread_end, record);
  sluice_thread_calls.record = record;
  return record;
}

void sluice_use_alternate_stacks(void) {
  atomic_store(&uses_alternate_stacks, 1);
  sluice_call_record *record = sluice_take_call_record();
  if (record) take_stack(record);
}

void sluice_keep_call_subject(sluice_call_subject *subject) {
  const sluice_call_subject *next = atomic_load(&subjects);
  do subject->next = next;
  while (!atomic_compare_exchange_weak(&subjects, &next, subject));
}

const sluice_call_subject *sluice_call_subjects(void) { return atomic_load(&subjects); }

const sluice_call_record *sluice_call_records(void) { return atomic_load(&records); }

int sluice_read_call(const sluice_call_record *record, sluice_call_frame *innermost) {
  const uint32_t depth = __atomic_load_n(&record->depth, __ATOMIC_ACQUIRE);
  if (depth == 0 || !__atomic_load_n(&record->is_taken, __ATOMIC_RELAXED)) return 0;
  const sluice_call_frame *frame = &record->frames[(depth < SLUICE_CALL_DEPTH ? depth : SLUICE_CALL_DEPTH) - 1];
  innermost->number = __atomic_load_n(&frame->number, __ATOMIC_RELAXED);
  innermost->subject = __atomic_load_n(&frame->subject, __ATOMIC_RELAXED);
  innermost->transaction_high = __atomic_load_n(&frame->transaction_high, __ATOMIC_RELAXED);
  innermost->transaction_low = __atomic_load_n(&frame->transaction_low, __ATOMIC_RELAXED);
  innermost->callback = __atomic_load_n(&frame->callback, __ATOMIC_RELAXED);
  innermost->attempt = __atomic_load_n(&frame->attempt, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return innermost->subject && __atomic_load_n(&frame->number, __ATOMIC_RELAXED) == innermost->number;
}

uint64_t sluice_outermost_call(const sluice_call_record *record) {
  if (__atomic_load_n(&record->depth, __ATOMIC_ACQUIRE) == 0) return 0;
  return __atomic_load_n(&record->frames[0].number, __ATOMIC_RELAXED);
}

const void *sluice_loop_of_record(const sluice_call_record *record) {
  if (!__atomic_load_n(&record->is_taken, __ATOMIC_ACQUIRE)) return NULL;
  return __atomic_load_n(&record->loop, __ATOMIC_RELAXED);
}
