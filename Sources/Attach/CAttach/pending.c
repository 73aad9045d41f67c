#define _GNU_SOURCE
#include "pending_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/// These bounds limit how long a program may wait before its next check. Within them, the time is a quarter of the time
/// for which the stage has been suspended.
enum { SHORTEST_MILLISECONDS = 1, LONGEST_MILLISECONDS = 50, PART = 4 };

static struct multi *multis;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(unsigned) pending_count;
static _Atomic(unsigned) multi_count;
/// Whether a timer function of the program could not be noted, because memory ran out.
static _Atomic(bool) has_lost_timer;

bool pending_exists(void) { return atomic_load_explicit(&pending_count, memory_order_relaxed) > 0; }

void pending_lock(void) { pthread_mutex_lock(&lock); }

void pending_unlock(void) { pthread_mutex_unlock(&lock); }

// MARK: Multi handles

/// The pointer in the list that points to the entry of a multi handle, or the NULL pointer at the end of the list. With
/// `lock` held.
static struct multi **place(CURLM *multi) {
  struct multi **link = &multis;
  while (*link && (*link)->multi != multi) link = &(*link)->next;
  return link;
}

struct multi *pending_find(CURLM *multi) {
  if (atomic_load_explicit(&multi_count, memory_order_relaxed) == 0) return NULL;
  pending_lock();
  struct multi *known = *place(multi);
  pending_unlock();
  return known;
}

/// Like `pending_find`, but creates a missing entry; NULL if memory ran out.
static struct multi *get(CURLM *multi, const struct libcurl *curl) {
  struct multi *known = pending_find(multi);
  // Memory is allocated before `lock` is taken: fork() takes `lock`, and the program's allocator may already have
  // locked itself for the fork.
  struct multi *made = known ? NULL : calloc(1, sizeof *made);
  if (!made) return known;
  made->multi = multi;
  made->curl = curl;
  pending_lock();
  made->next = multis;
  multis = made;
  pending_unlock();
  atomic_fetch_add(&multi_count, 1);
  return made;
}

void pending_note(CURLM *multi, const struct libcurl *curl, CURLMoption option, void *value) {
  if (option != CURLMOPT_TIMERFUNCTION && option != CURLMOPT_TIMERDATA) return;
  struct multi *known = get(multi, curl);
  if (!known) atomic_store(&has_lost_timer, true);
  else if (option == CURLMOPT_TIMERFUNCTION) known->timer = (curl_multi_timer_callback)value;
  else known->timer_data = value;
}

// MARK: Handles

/// Milliseconds of the monotonic clock.
static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void pending_unlink(struct multi *known, struct handle *handle) {
  struct handle **link = &known->first;
  while (*link && *link != handle) link = &(*link)->next_pending;
  if (*link) *link = handle->next_pending;
  handle->next_pending = NULL;
  handle->pending = PENDING_NOT;
  atomic_fetch_sub(&pending_count, 1);
}

bool pending_add(CURLM *multi, struct handle *handle) {
  struct multi *known = atomic_load(&has_lost_timer) ? NULL : get(multi, handle->curl);
  if (!known) return false;
  struct handle **link = &known->first;
  while (*link) link = &(*link)->next_pending;
  *link = handle;
  handle->pending = PENDING_STAGE;
  handle->pending_since = now();
  atomic_fetch_add(&pending_count, 1);
  return true;
}

void pending_remove(struct handle *handle) {
  if (handle->pending == PENDING_NOT) return;
  struct multi *known = pending_find(handle->multi);
  if (known) pending_unlink(known, handle);
}

void pending_forget(CURLM *multi) {
  if (atomic_load_explicit(&multi_count, memory_order_relaxed) == 0) return;
  pending_lock();
  struct multi **link = place(multi);
  struct multi *known = *link;
  if (known) *link = known->next;
  pending_unlock();
  if (!known) return;
  while (known->first) pending_unlink(known, known->first);
  atomic_fetch_sub(&multi_count, 1);
  free(known);
}

// MARK: Time

/// Does the work of `pending_bound` for the entry of a multi handle.
static long bound(const struct multi *known, long milliseconds) {
  long limit = -1;
  for (const struct handle *handle = known->first; handle; handle = handle->next_pending) {
    if (handle->pending == PENDING_REPORTED) continue;
    long own = handle->pending == PENDING_REPORT ? 0 : (long)((now() - handle->pending_since) / PART);
    if (handle->pending == PENDING_STAGE && own < SHORTEST_MILLISECONDS) own = SHORTEST_MILLISECONDS;
    if (own > LONGEST_MILLISECONDS) own = LONGEST_MILLISECONDS;
    if (limit < 0 || own < limit) limit = own;
  }
  return limit < 0 || (milliseconds >= 0 && milliseconds < limit) ? milliseconds : limit;
}

long pending_bound(CURLM *multi, long milliseconds) {
  const struct multi *known = pending_find(multi);
  return known ? bound(known, milliseconds) : milliseconds;
}

/// Sets the program's timer. When no handle is pending any more, the timer is set once more to libcurl's time, because
/// libcurl itself sets it only if its time has changed.
static void arm_timer(struct multi *known, bool is_pending) {
  if (!known->timer || known->is_busy || (!is_pending && !known->is_armed)) return;
  long milliseconds = -1;
  // multi_timeout fails if the program is in a callback. Then the timer is set when the call of libcurl that made the
  // callback returns.
  if (known->curl->multi_timeout(known->multi, &milliseconds) != CURLM_OK) return;
  known->is_armed = is_pending;
  known->is_busy = true;
  known->timer(known->multi, bound(known, milliseconds), known->timer_data);
  known->is_busy = false;
}

void pending_resume(CURLM *multi, int *running) {
  struct multi *known = pending_find(multi);
  if (!known) return;
  int count = 0;
  bool is_pending = false;
  for (const struct handle *handle = known->first; handle; handle = handle->next_pending) {
    if (handle->pending == PENDING_REPORTED) continue;
    is_pending = true;
    if (handle->pending != PENDING_REPORT) count++;
  }
  if (running) *running += count;
  arm_timer(known, is_pending);
}

// MARK: Messages

CURLMsg *pending_message(CURLM *multi, int *left) {
  const struct multi *known = pending_find(multi);
  CURLMsg *message = NULL;
  int count = 0;
  for (struct handle *handle = known ? known->first : NULL; handle; handle = handle->next_pending) {
    if (handle->pending != PENDING_REPORT) continue;
    if (message) count++;
    else message = &handle->message;
    if (message == &handle->message) handle->pending = PENDING_REPORTED;
  }
  if (left) *left = count;
  return message;
}
