#include <stdatomic.h>
#include <stddef.h>

#include "bare_loop.h"

// glibc's own allocation functions. glibc provides these names for programs that replace malloc and the others. This
// file is in C because a replacement must never allocate memory.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum { MAX_THREADS = 1024 };

// One counter for each thread, so that counting needs no locked instruction; each has a cache line of its own. If there
// are more threads than counters, the last counter is shared and may lose counts.
static struct { _Alignas(64) _Atomic uint64_t count; } counters[MAX_THREADS];
static atomic_int counters_in_use;
static _Thread_local _Atomic uint64_t *own;

static _Atomic uint64_t *take_counter(void) {
  int index = atomic_fetch_add(&counters_in_use, 1);
  own = &counters[index < MAX_THREADS ? index : MAX_THREADS - 1].count;
  return own;
}

static inline void count(void) {
  _Atomic uint64_t *counter = own ? own : take_counter();
  uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
  atomic_store_explicit(counter, before + 1, memory_order_relaxed);
}

uint64_t bench_thread_allocations(void) { return own ? atomic_load_explicit(own, memory_order_relaxed) : 0; }

uint64_t bench_allocations(void) {
  uint64_t sum = 0;
  for (int index = 0; index < MAX_THREADS; index++)
    sum += atomic_load_explicit(&counters[index].count, memory_order_relaxed);
  return sum;
}

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  count();
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  count();
  void *got = __libc_memalign(alignment, size);
  if (got == NULL) return 12; // ENOMEM
  *memory = got;
  return 0;
}
