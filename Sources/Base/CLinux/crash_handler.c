#define _GNU_SOURCE
#include "crash_handler.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "call_record.h"
#include "sanitized.h"

#define MAXIMUM_FRAMES 128
#define MAXIMUM_SUBJECTS 1024

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
#define SIGNAL_COUNT (sizeof signals / sizeof *signals)

static struct sigaction previous[SIGNAL_COUNT];
static _Atomic int output = -1;
/// The time limit for writing the record; parts that are not written by then are missing.
static _Atomic uint32_t limit_milliseconds;
static _Atomic pid_t process;

// Only the thread that is `owner` writes the variables below.
static _Atomic pid_t owner;
static volatile sig_atomic_t original;
static volatile sig_atomic_t is_guarded;
static sigjmp_buf recovery;
static uintptr_t frames[MAXIMUM_FRAMES];
static volatile int frame_count;

// MARK: Writing

static char buffer[4096];
static size_t used;
static int has_failed;

static void flush(void) {
  size_t written = 0;
  while (written < used && !has_failed) {
    const ssize_t step = write(atomic_load(&output), buffer + written, used - written);
    if (step < 0 && errno == EINTR) continue;
    // The descriptor is full or closed, or nobody reads from it. The record ends here, and the process ends in the same
    // way as without a record.
    if (step <= 0) has_failed = 1;
    else written += (size_t)step;
  }
  used = 0;
}

static void put(const char *text) {
  for (; *text; text++) {
    if (used == sizeof buffer) flush();
    buffer[used++] = *text;
  }
}

static void put_number(uint64_t number, unsigned base, int width) {
  char digits[24];
  int count = 0;
  do digits[count++] = "0123456789abcdef"[number % base];
  while (number /= base);
  while (count < width) digits[count++] = '0';
  char text[25];
  for (int index = 0; index < count; index++) text[index] = digits[count - 1 - index];
  text[count] = 0;
  put(text);
}

static void put_decimal(int64_t number) {
  if (number < 0) put("-");
  put_number(number < 0 ? -(uint64_t)number : (uint64_t)number, 10, 1);
}

static void put_address(uintptr_t address) { put_number(address, 16, 1); }

// MARK: The machine

static uintptr_t counter_of(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.pc;
#endif
}

static uintptr_t frame_of(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RBP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.regs[29];
#endif
}

/// The return address, if the function has not set up its frame yet.
static uintptr_t return_of(const ucontext_t *context) {
#if defined(__x86_64__)
  return *(const uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.regs[30];
#endif
}

/// How the instruction accessed memory at a page fault; NULL if the processor does not report it.
static const char *access_of(const ucontext_t *context) {
#if defined(__x86_64__)
  // Bits of the error code of a page fault, which is trap 14 (Intel SDM, volume 3, 4.7).
  if (context->uc_mcontext.gregs[REG_TRAPNO] != 14) return NULL;
  const greg_t error = context->uc_mcontext.gregs[REG_ERR];
  return error & 16 ? "execute" : error & 2 ? "write" : "read";
#else
  (void)context;
  return NULL;
#endif
}

// MARK: The parts of the record

static const siginfo_t *information;
static const ucontext_t *state;

static void put_head(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char name[16] = "";
  prctl(PR_GET_NAME, name, 0, 0, 0);
  put("sluice crash record 1\ntime ");
  put_decimal(now.tv_sec), put("."), put_number((uint64_t)now.tv_nsec, 10, 9);
  put("\nprocess "), put_decimal(getpid());
  put("\nthread "), put_decimal(syscall(SYS_gettid)), put(" "), put(name);
  put("\nsignal "), put_decimal(original), put(" "), put_decimal(information->si_code);
  put(" "), put_address((uintptr_t)information->si_addr);
  const char *access = access_of(state);
  if (access) put("\naccess "), put(access);
  put("\ncounter "), put_address(counter_of(state));
  put("\nhandler "), put_address((uintptr_t)put_head), put("\n");
  flush();
}

static void put_subject(const sluice_call_subject *subject) {
  put("\n plugin "), put(subject->plugin);
  put("\n generation "), put_decimal(subject->generation);
  put("\n hash "), put(subject->hash);
  put("\n library "), put(subject->library);
  put("\n copy "), put(subject->copy), put("\n");
}

static void put_calls(void) {
  const pid_t thread = (pid_t)syscall(SYS_gettid);
  for (const sluice_call_record *record = sluice_call_records(); record; record = record->next) {
    sluice_call_frame call;
    if (!sluice_read_call(record, &call)) continue;
    put(record->thread == thread ? "call here " : "call elsewhere ");
    put_decimal(record->thread), put(" "), put_decimal(call.callback), put(" "), put_decimal(call.attempt), put(" ");
    put_number(call.transaction_high, 16, 16), put_number(call.transaction_low, 16, 16);
    put("\n name "), put(record->thread_name);
    put("\n stage "), put(call.subject->stage);
    put_subject(call.subject);
  }
  flush();
}

static void put_subjects(void) {
  int left = MAXIMUM_SUBJECTS;
  for (const sluice_call_subject *subject = sluice_call_subjects(); subject && left > 0; subject = subject->next, left--) {
    put("known\n stage "), put(subject->stage);
    put_subject(subject);
  }
  flush();
}

static void add_frame(uintptr_t address) {
  if (frame_count < MAXIMUM_FRAMES) frames[frame_count++] = address;
}

static _Unwind_Reason_Code trace_frame(struct _Unwind_Context *context, void *argument) {
  int *is_below_signal = argument;
  int is_exact = 0;
  const uintptr_t address = _Unwind_GetIPInfo(context, &is_exact);
  if (!address) return _URC_END_OF_STACK;
  // The first frames are those of the handler, and are left out.
  if (address == counter_of(state)) *is_below_signal = 1;
  // If the called function never returns, the return address can be behind the end of the calling function. So 1 is
  // subtracted.
  if (*is_below_signal) add_frame(is_exact ? address : address - 1);
  return frame_count < MAXIMUM_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// Finds the frames by the unwind tables of the libraries. libgcc finds these tables without a lock and without
/// allocating (_dl_find_object, glibc 2.35).
static void trace_by_tables(void) {
  int is_below_signal = 0;
  _Unwind_Backtrace(trace_frame, &is_below_signal);
}

/// Finds the frames by frame pointers. This is needed after a jump to an address without code, for which no unwind
/// table exists.
static void trace_by_pointers(void) {
  add_frame(counter_of(state));
  const uintptr_t caller = return_of(state);
  if (caller) add_frame(caller - 1);
  const uintptr_t *frame = (const uintptr_t *)frame_of(state);
  for (int left = MAXIMUM_FRAMES; left > 0 && frame && (uintptr_t)frame % sizeof *frame == 0; left--) {
    if (!frame[1]) return;
    if (frame[1] != caller) add_frame(frame[1] - 1);
    const uintptr_t *next = (const uintptr_t *)frame[0];
    // Stacks grow downwards.
    if (next <= frame) return;
    frame = next;
  }
}

static void put_frames(void) {
  for (int index = 0; index < frame_count; index++) put("frame "), put_address(frames[index]), put("\n");
  flush();
}

static void put_maps(void) {
  put("maps\n");
  flush();
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t count;
  while (!has_failed && ((count = read(file, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))) {
    used = count > 0 ? (size_t)count : 0;
    flush();
  }
  close(file);
  put("end of crash record\n");
  flush();
}

/// Writes one part. If a part crashes, it is left out, and the next one follows.
static void attempt(void (*part)(void)) {
  if (sigsetjmp(recovery, 0) == 0) {
    is_guarded = 1;
    part();
  }
  is_guarded = 0;
}

// MARK: The end

static void use_default(int signal) {
  const struct sigaction action = {.sa_handler = SIG_DFL};
  sigaction(signal, &action, NULL);
}

static void unblock(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void send_here(int signal) { syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal); }

static void die(int signal) {
  use_default(signal);
  unblock(signal);
  send_here(signal);
  _exit(128 + signal);
}

static void limit_passed(int signal) {
  (void)signal;
  die(original);
}

/// Starts the time limit, which also ends a handler that would wait forever, for example for a reader or a lock.
static void set_limit(void) {
  const struct sigaction action = {.sa_handler = limit_passed, .sa_flags = SA_ONSTACK};
  const uint32_t left = atomic_load(&limit_milliseconds);
  const struct itimerval limit = {.it_value = {.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000}};
  sigaction(SIGALRM, &action, NULL);
  unblock(SIGALRM);
  setitimer(ITIMER_REAL, &limit, NULL);
}

static const struct sigaction *previous_of(int signal) {
  for (size_t index = 0; index < SIGNAL_COUNT; index++) {
    if (signals[index] == signal) return &previous[index];
  }
  return NULL;
}

/// Whether the instruction faults again when the handler returns. The second signal then has the same facts and core
/// dump as the crash. A trap does not fault again, because the program counter is behind its instruction. A signal that
/// a process sent does not come again either.
static int comes_again(int signal) {
  return information->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE);
}

static void hand_on(int signal, ucontext_t *context) {
  const struct sigaction *before = previous_of(signal);
  const int is_handled = before && before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN;
  if (is_handled) {
    // The previous handler has no time limit, because it may start a debugger, or print the backtraces of Swift's
    // runtime.
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    sigaction(signal, before, NULL);
    if (comes_again(signal)) return;
    unblock(signal);
    send_here(signal);
    // The previous handler has returned. In this case abort(3) would end the process, so this handler ends it too.
    die(signal);
  }
  if (!comes_again(signal)) die(signal);
  use_default(signal);
  // If another thread has repaired the page in the meantime, there is no second fault, and the limit ends the process.
  sigdelset(&context->uc_sigmask, SIGALRM);
  sigdelset(&context->uc_sigmask, signal);
}

/// A thread that crashes while the crash of another thread is being recorded waits for the end of the process.
static void wait_for_end(int signal) {
  // The limit ends the process long before this loop ends.
  for (uint32_t waited = 0; waited < 2 * atomic_load(&limit_milliseconds) + 1000; waited += 100) {
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  }
  die(signal);
}

static void crashed(int signal, siginfo_t *info, void *context) {
  const pid_t thread = (pid_t)syscall(SYS_gettid);
  // A process that a plugin has forked writes no record.
  if (getpid() != atomic_load(&process)) return die(signal);
  pid_t nobody = 0;
  if (!atomic_compare_exchange_strong(&owner, &nobody, thread)) {
    if (nobody != thread) wait_for_end(signal);
    if (is_guarded) siglongjmp(recovery, 1);
    die(original);
  }
  original = signal;
  information = info;
  state = context;
  set_limit();
  const struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigaction(SIGPIPE, &ignore, NULL);
  sigaction(SIGXFSZ, &ignore, NULL);
  attempt(put_head);
  attempt(put_calls);
  attempt(trace_by_tables);
  if (frame_count < 2) {
    frame_count = 0;
    attempt(trace_by_pointers);
  }
  attempt(put_frames);
  attempt(put_subjects);
  attempt(put_maps);
  hand_on(signal, context);
}

// MARK: Installing

static _Unwind_Reason_Code stop_at_once(struct _Unwind_Context *context, void *argument) {
  (void)argument;
  // This call makes the loader resolve both functions of the unwinder now, because the loader must not do so in the
  // handler.
  int is_exact;
  return _Unwind_GetIPInfo(context, &is_exact) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

int sluice_install_crash_handler(int descriptor, uint32_t limit) {
#ifdef IS_SANITIZED
  (void)descriptor, (void)limit, (void)stop_at_once, (void)crashed;
  errno = ENOTSUP;
  return -1;
#else
  if (fcntl(descriptor, F_GETFD) < 0) return -1;
  atomic_store(&process, getpid());
  atomic_store(&limit_milliseconds, limit > 0 ? limit : 1);
  if (atomic_exchange(&output, descriptor) >= 0) return 0;
  _Unwind_Backtrace(stop_at_once, NULL);
  sluice_use_alternate_stacks();
  for (size_t index = 0; index < SIGNAL_COUNT; index++) {
    // The signal is not blocked while the handler runs, so that a second fault reaches the handler instead of ending
    // the process.
    const struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (sigaction(signals[index], &action, &previous[index]) != 0) return -1;
  }
  return 0;
#endif
}
