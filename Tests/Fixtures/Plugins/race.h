// Lets two threads call the same function for every entry of a batch at the same time, and counts how often a thread
// was first. A plugin defines BATCH and `static sluice_status race_for(int index)` before it includes this header.
#ifndef RACE_H
#define RACE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

// entries, wins, already, other
static atomic_long counts[4];
static atomic_long round_number;
static atomic_long finished;
static atomic_int ended;
static pthread_t threads[2];

static void *race(void *context) {
  (void)context;
  for (long seen = 0;;) {
    while (atomic_load(&round_number) == seen) {
      if (atomic_load(&ended)) return NULL;
      sched_yield();
    }
    seen++;
    for (int i = 0; i < BATCH; i++) {
      sluice_status status = race_for(i);
      atomic_fetch_add(&counts[status == SLUICE_STATUS_OK ? 1 : status == SLUICE_STATUS_ALREADY ? 2 : 3], 1);
    }
    atomic_fetch_add(&finished, 1);
  }
}

static inline void race_begin(void) {
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, race, NULL);
}

static inline void race_end(void) {
  atomic_store(&ended, 1);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

// Returns the index of the next entry. Waits until both threads have finished the previous batch, because they still
// read its entries.
static inline long race_next(void) {
  while (atomic_load(&finished) != 2 * atomic_load(&round_number)) sched_yield();
  return atomic_fetch_add(&counts[0], 1) % BATCH;
}

// Call it when the entry at this index is ready. The last entry of a batch starts the race.
static inline void race_enter(long place) {
  if (place == BATCH - 1) atomic_fetch_add(&round_number, 1);
}

#endif
