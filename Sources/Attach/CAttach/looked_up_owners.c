#define _GNU_SOURCE
#include "looked_up_owners.h"

#include <stdatomic.h>
#include <stdlib.h>

#define DECLARE(N)                                                                 \
  extern const char __start_looked_up_##N[] __attribute__((visibility("hidden"))); \
  extern const char __stop_looked_up_##N[] __attribute__((visibility("hidden")));
LOOKED_UP_COPIES(DECLARE)

/// Where the functions of each copy are.
#define RANGE(N) {__start_looked_up_##N, __stop_looked_up_##N},
static const struct {
  const char *start, *end;
} ranges[] = {LOOKED_UP_COPIES(RANGE)};
enum { COPIES = sizeof ranges / sizeof *ranges };

/// A library that has got a copy. Entries are never removed.
struct owner {
  const struct link_map *library;
  struct libcurl curl;
};

static _Atomic(struct owner *) owners[COPIES];

const struct libcurl *looked_up_at(const void *caller) {
  for (int index = 0; index < COPIES; index++) {
    const struct owner *owner = atomic_load_explicit(&owners[index], memory_order_acquire);
    if (!owner) return NULL;
    if ((const char *)caller >= ranges[index].start && (const char *)caller < ranges[index].end) return &owner->curl;
  }
  return NULL;
}

static struct owner *make_owner(const struct link_map *library) {
  struct owner *owner = calloc(1, sizeof *owner);
  if (!owner) return NULL;
  owner->library = library;
  if (libcurl_read(&owner->curl, library)) return owner;
  free(owner);
  return NULL;
}

// Without a lock: the caller may hold that of the loader.
int looked_up_copy_of(const struct link_map *library) {
  struct owner *made = NULL;
  int copy = -1;
  for (int index = 0; index < COPIES && copy < 0; index++) {
    struct owner *owner = atomic_load_explicit(&owners[index], memory_order_acquire);
    if (!owner && !made && !(made = make_owner(library))) return -1;
    if (!owner && atomic_compare_exchange_strong(&owners[index], &owner, made)) {
      made = NULL;
      copy = index;
    } else if (owner && owner->library == library) {
      copy = index;
    }
  }
  free(made);
  return copy;
}
