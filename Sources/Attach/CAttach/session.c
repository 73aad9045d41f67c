// A program that makes no transfer pays only for the constructor: one getenv and one pthread_atfork.
#define _GNU_SOURCE
#include "session.h"

#include "exchange.h"
#include "gate.h"
#include "handle.h"
#include "host_file.h"
#include "last_thread.h"
#include "load_thread.h"
#include "own_stack.h"
#include "page.h"
#include "pending.h"
#include "plan.h"
#include "roomy_host.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool session_is_on;

/// A static array, so that no allocation can fail before `main`.
static char folder[4096];
static int plan_descriptor = -1, page_descriptor = -1;
static bool fails_without_pipeline;

/// Held while the host library is opened and while it takes a plan.
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(const struct sluice_attach_host *) host;
static _Atomic(struct sluice_attach_page *) page;
/// The number of the plan that the host has; 0 if it has none.
static _Atomic(uint64_t) plan_taken;
/// The number of the newest plan that could not be taken. This plan is not tried again.
static _Atomic(uint64_t) plan_refused;
/// If this process permanently has no pipeline, the reason, as an `enum sluice_attach_count`; otherwise -1.
static _Atomic(int) lost = -1;
static _Atomic(unsigned) generation;
/// Whether any plan until now had plugins that may make exchanges.
static _Atomic(bool) calls_out;
/// The longest time that a fork() waits for calls of the host to return. If they take longer, the child has no
/// pipeline.
enum { FORK_LIMIT_MILLISECONDS = 100 };

// MARK: Opening

/// If another thread has mapped the page first, this thread unmaps its own mapping.
static struct sluice_attach_page *open_page(void) {
  struct sluice_attach_page *known = atomic_load_explicit(&page, memory_order_acquire);
  if (known) return known;
  struct sluice_attach_page *mapped = page_map(folder, page_descriptor);
  if (!mapped || atomic_compare_exchange_strong(&page, &known, mapped)) return mapped;
  page_unmap(mapped);
  return known;
}

void session_prepare(void) {
  if (atomic_load_explicit(&page, memory_order_acquire) || atomic_load(&lost) >= 0) return;
  const int kept = errno;
  open_page();
  errno = kept;
}

/// Whether a descriptor is free. If no descriptor is free, a step may have failed for this reason, and may succeed with
/// the next transfer.
static bool has_spare_descriptor(void) {
  const int file = open("/", O_PATH | O_CLOEXEC);
  if (file >= 0) close(file);
  return file >= 0 || (errno != EMFILE && errno != ENFILE);
}

static void finish_early(void);

/// What the host may call. These functions belong to files below this one.
static const struct sluice_attach_program *program(void) {
  static struct sluice_attach_program table;
  table = (struct sluice_attach_program){
      .abi = SLUICE_ATTACH_ABI, .folder = text(folder), .exchange = exchange_make, .release = exchange_release,
      .begin_thread = gate_begin_host_thread, .pause = gate_pause, .resume = gate_resume};
  return &table;
}

/// The caller must hold `loading`.
static bool open_host(void) {
  if (atomic_load(&host)) return true;
  enum sluice_attach_count reason = SLUICE_ATTACH_COUNT_NO_HOST;
  const struct sluice_attach_host *opened = host_file_open(&atomic_load(&page)->host, program(), &reason);
  if (!opened) {
    if (has_spare_descriptor()) atomic_store(&lost, (int)reason);
    return false;
  }
  session_count(SLUICE_ATTACH_COUNT_HOSTS);
  atomic_store_explicit(&host, roomy_host(opened), memory_order_release);
  // If atexit fails, the only loss is the data that plugins would send at the end.
  atexit(finish_early);
  return true;
}

/// The caller must hold `loading`.
static void take_plan(uint64_t number) {
  size_t length = 0;
  char *plan = plan_read(number, plan_descriptor, folder, &length);
  const struct sluice_attach_host *opened = atomic_load(&host);
  if (plan && opened->take_plan(plan, length, number) == 0) {
    if (opened->calls_out()) atomic_store(&calls_out, true);
    atomic_store(&plan_taken, number);
  } else if (has_spare_descriptor()) {
    atomic_store(&plan_refused, number);
  }
  free(plan);
}

static uint64_t newest_plan(void) {
  struct sluice_attach_page *known = atomic_load_explicit(&page, memory_order_acquire);
  return known ? sluice_attach_get_sequence(known) : 0;
}

/// Whether the host library was not opened yet, or a plan was not tried yet.
static bool has_news(void) {
  const uint64_t newest = newest_plan();
  return !atomic_load_explicit(&host, memory_order_acquire) ||
         (newest != atomic_load(&plan_taken) && newest != atomic_load(&plan_refused));
}

/// Call it while `loading` is held by this thread, or by a thread that waits for this thread.
static void load_news(void) {
  gate_go_in();
  if (open_page()) {
    if (open_host() && has_news()) take_plan(newest_plan());
  } else if (has_spare_descriptor()) {
    atomic_store(&lost, SLUICE_ATTACH_COUNT_NO_PLAN);
  }
  gate_go_out();
}

static void load(void *unused) {
  (void)unused;
  load_thread_run(load_news);
}

static void catch_up(void) {
  pthread_mutex_lock(&loading);
  gate_go_in();
  if (atomic_load(&lost) < 0 && has_news()) own_stack_call(load, NULL);
  gate_go_out();
  pthread_mutex_unlock(&loading);
}

// MARK: Entering

const struct sluice_attach_host *session_enter(enum sluice_attach_count *reason) {
  *reason = SLUICE_ATTACH_COUNT_NO_PLAN;
  if (gate_is_inside()) return NULL;
  if (!own_stack_reserve()) {
    *reason = SLUICE_ATTACH_COUNT_SMALL_STACK;
    return NULL;
  }
  if (atomic_load_explicit(&lost, memory_order_relaxed) < 0 && has_news()) catch_up();
  const int known = atomic_load(&lost);
  if (known >= 0) *reason = (enum sluice_attach_count)known;
  const struct sluice_attach_host *opened =
      known < 0 && atomic_load(&plan_taken) ? session_enter_again() : NULL;
  if (!opened) own_stack_release();
  return opened;
}

const struct sluice_attach_host *session_enter_again(void) {
  const struct sluice_attach_host *opened = atomic_load_explicit(&host, memory_order_acquire);
  if (!opened || gate_is_inside() || atomic_load_explicit(&lost, memory_order_relaxed) >= 0) return NULL;
  if (!own_stack_reserve()) return NULL;
  gate_enter();
  return opened;
}

void session_leave(void) {
  gate_leave();
  own_stack_release();
}

bool session_calls_out(void) { return atomic_load_explicit(&calls_out, memory_order_relaxed); }

unsigned session_generation(void) { return atomic_load_explicit(&generation, memory_order_relaxed); }

bool session_fails_without_pipeline(void) { return fails_without_pipeline; }

void session_count(enum sluice_attach_count count) {
  session_prepare();
  struct sluice_attach_page *known = atomic_load_explicit(&page, memory_order_acquire);
  if (known) sluice_attach_add(known, count);
}

// MARK: fork()

// Written before fork() and read after it, by the thread that forks. Other threads that fork wait for `forking`.
static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;
static bool has_loading, has_exchanges;

static struct timespec limit(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_nsec += FORK_LIMIT_MILLISECONDS * 1000000L;
  time.tv_sec += time.tv_nsec / 1000000000L;
  time.tv_nsec %= 1000000000L;
  return time;
}

/// Takes all locks before a fork(). A thread that is already inside the host, such as that of a stage that forks, does
/// not wait for the host, because it would wait for itself.
static void before_fork(void) {
  if (!session_is_on) return;
  pthread_mutex_lock(&forking);
  // Without the pipeline, there is nothing to wait for.
  const bool is_waiting = !gate_is_inside() && atomic_load(&lost) < 0;
  struct timespec until = limit();
  has_loading = is_waiting && pthread_mutex_clocklock(&loading, CLOCK_MONOTONIC, &until) == 0;
  if (has_loading) gate_close(&until);
  // A thread that is busy for long must not keep the fork() from taking the locks of libcurl.
  until = limit();
  // This lock is taken before the following locks, because libcurl may take the following locks while it holds this
  // one.
  has_exchanges = exchange_lock(&until);
  handle_lock_all();
  pending_lock();
}

static void in_parent(void) {
  if (!session_is_on) return;
  pending_unlock();
  handle_unlock_all();
  if (has_exchanges) exchange_unlock();
  if (has_loading) gate_open();
  if (has_loading) pthread_mutex_unlock(&loading);
  pthread_mutex_unlock(&forking);
}

/// @return whether no other thread was inside the host
static bool unlock_in_child(void) {
  pending_unlock();
  handle_unlock_all();
  exchange_forget_all(has_exchanges);
  const bool is_whole = has_loading && gate_open_in_child();
  if (has_loading) pthread_mutex_unlock(&loading);
  pthread_mutex_unlock(&forking);
  return is_whole;
}

static void in_child(void) {
  if (!session_is_on) return;
  atomic_fetch_add(&generation, 1);
  last_thread_forked();
  const bool is_whole = unlock_in_child();
  const struct sluice_attach_host *opened = atomic_load(&host);
  if (!is_whole) {
    // Another thread was inside the host, or a thread of the host did not pause. It does not exist in the child, so the
    // data that it was changing stays incomplete.
    if (opened || !gate_is_inside()) atomic_store(&lost, SLUICE_ATTACH_COUNT_FORKED);
    return;
  }
  if (!opened) return;
  gate_go_in();
  // Without memory for a stack, the call needs the room that there is.
  own_stack_reserve();
  opened->forked();
  gate_go_out();
  if (!gate_is_inside()) own_stack_release();
  atomic_store(&plan_taken, 0);
  atomic_store(&plan_refused, 0);
}

// MARK: The process

/// The descriptor at the beginning of a text.
///
/// @return the text after it; NULL if there is no descriptor
static const char *parse_descriptor(const char *text, int *descriptor) {
  char *rest = NULL;
  errno = 0;
  const long number = strtol(text, &rest, 10);
  if (rest == text || errno != 0 || number < -1 || number > 1 << 20) return NULL;
  *descriptor = (int)number;
  return rest;
}

/// `PLAN,PAGE:WHEN_MISSING:FOLDER`.
static bool parse(const char *value) {
  const char *rest = parse_descriptor(value, &plan_descriptor);
  if (rest && *rest == ',') rest = parse_descriptor(rest + 1, &page_descriptor);
  if (!rest || *rest != ':') return false;
  const char *missing = rest + 1;
  const char *place = strchr(missing, ':');
  if (!place || place[1] != '/') return false;
  if (place - missing != 4) return false;
  fails_without_pipeline = strncmp(missing, "fail", 4) == 0;
  if (!fails_without_pipeline && strncmp(missing, "pass", 4) != 0) return false;
  return (size_t)snprintf(folder, sizeof folder, "%s", place + 1) < sizeof folder;
}

void session_begin(void) {
  static _Atomic(bool) has_begun;
  if (atomic_exchange(&has_begun, true)) return;
  const char *value = getenv(SLUICE_ATTACH_VARIABLE);
  if (!value) return;
  const char *off = getenv(SLUICE_ATTACH_OFF_VARIABLE);
  if (off && *off && strcmp(off, "0") != 0) return;
  if (!parse(value)) return;
  session_is_on = pthread_atfork(before_fork, in_parent, in_child) == 0;
  if (session_is_on) last_thread_begin(gate_pause);
}

__attribute__((constructor)) static void begin(void) { session_begin(); }

/// An exit handler that lets plugins send their last data. It runs before the exit handlers of the TLS libraries,
/// because those were registered before the first transfer. Transfers that exit handlers make after this one have no
/// pipeline.
static void finish_early(void) {
  const struct sluice_attach_host *opened = atomic_load(&host);
  if (gate_is_inside() || !opened || atomic_load(&lost) >= 0 || !opened->calls_out()) return;
  const int kept = errno;
  int expected = -1;
  if (atomic_compare_exchange_strong(&lost, &expected, SLUICE_ATTACH_COUNT_ENDING)) {
    const struct timespec until = limit();
    gate_wait(&until);
    gate_go_in();
    own_stack_reserve();
    opened->close();
    own_stack_release();
    gate_go_out();
  }
  errno = kept;
}

__attribute__((destructor)) static void finish(void) {
  if (!session_is_on || atomic_load(&lost) >= 0) return;
  const struct sluice_attach_host *opened = session_enter_again();
  if (!opened) return;
  opened->close();
  session_leave();
}
