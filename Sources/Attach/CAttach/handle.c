#include "handle.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// Each part of the table has its own lock, because programs set options on many threads.
enum { PARTS = 64, BUCKETS = 64 };

static struct {
  pthread_mutex_t lock;
  struct handle *buckets[BUCKETS];
} parts[PARTS] = {[0 ... PARTS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static size_t hash(const CURL *easy) {
  return (size_t)(((uint64_t)(uintptr_t)easy * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

static struct handle **place(CURL *easy) {
  const size_t number = hash(easy);
  struct handle **link = &parts[number % PARTS].buckets[number / PARTS % BUCKETS];
  while (*link && (*link)->easy != easy) link = &(*link)->next;
  return link;
}

static pthread_mutex_t *lock(CURL *easy) {
  pthread_mutex_t *lock = &parts[hash(easy) % PARTS].lock;
  pthread_mutex_lock(lock);
  return lock;
}

struct handle *handle_find(CURL *easy) {
  pthread_mutex_t *locked = lock(easy);
  struct handle *handle = *place(easy);
  pthread_mutex_unlock(locked);
  return handle;
}

static struct handle *make(CURL *easy, const struct libcurl *curl) {
  struct handle *handle = calloc(1, sizeof *handle);
  if (!handle) return NULL;
  handle->easy = easy;
  handle->curl = curl;
  handle->options.content_length = -1;
  return handle;
}

struct handle *handle_get(CURL *easy, const struct libcurl *curl) {
  struct handle *known = handle_find(easy);
  // Nothing is allocated under a lock that fork() takes: the program's allocator may already have locked itself for the
  // fork.
  struct handle *made = known ? NULL : make(easy, curl);
  if (!made) return known;
  pthread_mutex_t *locked = lock(easy);
  struct handle **link = place(easy);
  if (!*link) *link = made;
  known = *link;
  pthread_mutex_unlock(locked);
  if (known != made) free(made);
  return known;
}

void handle_forget(CURL *easy) {
  pthread_mutex_t *locked = lock(easy);
  struct handle **link = place(easy);
  struct handle *handle = *link;
  if (handle) *link = handle->next;
  pthread_mutex_unlock(locked);
  if (!handle) return;
  options_clear(&handle->options);
  free(handle);
}

struct handle *handle_find_in(CURLM *multi, bool (*holds)(const struct handle *handle)) {
  struct handle *found = NULL;
  for (int part = 0; part < PARTS && !found; part++) {
    pthread_mutex_lock(&parts[part].lock);
    for (int bucket = 0; bucket < BUCKETS && !found; bucket++)
      for (found = parts[part].buckets[bucket]; found; found = found->next)
        if (found->multi == multi && (!holds || holds(found))) break;
    pthread_mutex_unlock(&parts[part].lock);
  }
  return found;
}

void handle_lock_all(void) {
  for (int index = 0; index < PARTS; index++) pthread_mutex_lock(&parts[index].lock);
}

void handle_unlock_all(void) {
  for (int index = PARTS - 1; index >= 0; index--) pthread_mutex_unlock(&parts[index].lock);
}
