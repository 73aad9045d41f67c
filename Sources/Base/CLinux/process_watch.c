#define _GNU_SOURCE
#include "process_watch.h"
#include "standard_streams.h"

#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

struct thread_state {
  uint64_t modes;
  locale_t locale;
  sigset_t mask;
};

/// What one of the descriptors 0 to 2 refers to.
struct stream_state {
  int is_open;
  dev_t device, special;
  ino_t inode;
};

struct process_state {
  struct stream_state streams[STDERR_FILENO + 1];
  char folder[PATH_MAX];
  char locale[512];
  /// -1 if it is unknown.
  int mask;
};

/// A descriptor that belongs to the host.
struct host_descriptor {
  int number;
  dev_t device;
  ino_t inode;
};

static struct host_descriptor guarded[SLUICE_GUARDED_DESCRIPTORS];
static size_t guarded_count;
static sluice_loss_handler loss;
static _Atomic(sluice_change_handler) listener;
static _Thread_local struct thread_state outer[SLUICE_CALL_DEPTH];
/// The state of the process at the last comparison.
static struct process_state known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/// The modes of the processor, without the flags that calculations set.
static uint64_t float_modes(void) {
#if defined(__x86_64__)
  unsigned short control;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  return (uint64_t)control << 32 | (_mm_getcsr() & ~0x3Fu);
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return (uint64_t)fegetround();
#endif
}

static struct thread_state thread_now(void) {
  struct thread_state state = {.modes = float_modes(), .locale = uselocale((locale_t)0)};
  sigemptyset(&state.mask);
  pthread_sigmask(SIG_BLOCK, NULL, &state.mask);
  return state;
}

/// umask(2) cannot read the mask without setting it, which other threads would notice.
static int file_mask(void) {
  char text[2048];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return -1;
  text[size] = 0;
  const char *line = strstr(text, "\nUmask:");
  return line ? (int)strtol(line + 7, NULL, 8) : -1;
}

static void read_streams(struct stream_state *streams) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    struct stat status = {0};
    const int is_open = fstat(stream, &status) == 0;
    streams[stream] = (struct stream_state){
        .is_open = is_open, .device = status.st_dev, .special = status.st_rdev, .inode = status.st_ino};
  }
}

static int has_lost_descriptor(void) {
  for (size_t index = 0; index < guarded_count; index++) {
    const struct host_descriptor *old = &guarded[index];
    struct stat now;
    if (fstat(old->number, &now) != 0 || now.st_dev != old->device || now.st_ino != old->inode) return 1;
  }
  return 0;
}

static void read_process(struct process_state *state) {
  // First, because the rest opens a file, which would get the number of a closed stream.
  read_streams(state->streams);
  if (!getcwd(state->folder, sizeof state->folder)) state->folder[0] = 0;
  const char *locale = setlocale(LC_ALL, NULL);
  snprintf(state->locale, sizeof state->locale, "%s", locale ? locale : "");
  state->mask = file_mask();
}

__attribute__((format(printf, 3, 4))) static void tell(
    const sluice_call_subject *subject, uint32_t callback, const char *format, ...) {
  char text[2 * PATH_MAX + 128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  atomic_load(&listener)(subject, callback, text);
}

static void compare_streams(
    const struct stream_state *before, const struct stream_state *now, const sluice_call_subject *subject,
    uint32_t callback) {
  static const char *const names[] = {"standard input", "standard output", "standard error"};
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    const struct stream_state *old = &before[stream], *new = &now[stream];
    if (!new->is_open) {
      tell(subject, callback, "closed descriptor %d (%s)", stream, names[stream]);
    } else if (new->device != old->device || new->inode != old->inode || new->special != old->special) {
      tell(subject, callback, "replaced descriptor %d (%s)", stream, names[stream]);
    }
  }
}

static void compare_process(const sluice_call_subject *subject, uint32_t callback) {
  struct process_state now, before;
  if (has_lost_descriptor()) loss();
  pthread_mutex_lock(&lock);
  read_process(&now);
  before = known;
  known = now;
  // A closed stream is opened again, so that no file of the host gets its number.
  if (sluice_fill_streams() != 0) read_streams(known.streams);
  pthread_mutex_unlock(&lock);
  compare_streams(before.streams, now.streams, subject, callback);
  if (strcmp(now.folder, before.folder) != 0) {
    tell(subject, callback, "changed the current folder from \"%s\" to \"%s\"", before.folder, now.folder);
  }
  if (strcmp(now.locale, before.locale) != 0) {
    tell(subject, callback, "changed the locale from \"%s\" to \"%s\"", before.locale, now.locale);
  }
  if (now.mask >= 0 && before.mask >= 0 && now.mask != before.mask) {
    tell(subject, callback, "changed the umask from %04o to %04o", (unsigned)before.mask, (unsigned)now.mask);
  }
}

static void compare_thread(const struct thread_state *before, const sluice_call_frame *call) {
  const struct thread_state now = thread_now();
  if (now.modes != before->modes) {
    tell(call->subject, call->callback, "changed the rounding or flush mode of the host's thread");
  }
  if (now.locale != before->locale) {
    tell(call->subject, call->callback, "changed the locale of the host's thread (uselocale)");
  }
  for (int signal = 1; signal < NSIG; signal++) {
    if (sigismember(&now.mask, signal) == sigismember(&before->mask, signal)) continue;
    const char *name = sigabbrev_np(signal);
    return tell(
        call->subject, call->callback, "changed the signal mask of the host's thread: %s%s is %s", name ? "SIG" : "",
        name ? name : "a real-time signal", sigismember(&now.mask, signal) ? "blocked" : "not blocked");
  }
}

void sluice_note_state(const sluice_call_record *record) {
  compare_process(NULL, 0);
  if (record->depth < SLUICE_CALL_DEPTH) outer[record->depth] = thread_now();
}

void sluice_compare_state(const sluice_call_record *record) {
  const uint32_t depth = record->depth - 1;
  if (depth >= SLUICE_CALL_DEPTH) return;
  const sluice_call_frame *call = &record->frames[depth];
  compare_thread(&outer[depth], call);
  compare_process(call->subject, call->callback);
  // The calls around this one are not to blame.
  const struct thread_state now = thread_now();
  for (uint32_t index = 0; index < depth; index++) outer[index] = now;
}

void sluice_watch_process(sluice_change_handler handler) {
  read_process(&known);
  atomic_store(&listener, handler);
  // The record that this thread may have taken already.
  if (sluice_thread_calls.record) sluice_thread_calls.record->is_watched = 1;
}

void sluice_guard_descriptors(const int *numbers, uint32_t count, sluice_loss_handler handler) {
  loss = handler;
  for (uint32_t index = 0; index < count && guarded_count < SLUICE_GUARDED_DESCRIPTORS; index++) {
    struct stat status;
    if (fstat(numbers[index], &status) != 0) continue;
    guarded[guarded_count++] = (struct host_descriptor){numbers[index], status.st_dev, status.st_ino};
  }
}

void sluice_renew_state(void (*restore)(void)) {
  if (!sluice_is_process_watched()) return restore();
  compare_process(NULL, 0);
  restore();
  pthread_mutex_lock(&lock);
  read_process(&known);
  pthread_mutex_unlock(&lock);
}

int sluice_is_process_watched(void) { return atomic_load(&listener) != NULL; }
