// Transfers on the stacks of coroutines: `coroutines URL KIB WHERE`. KIB is the size of the stack. It lies between other
// data, which must not change, and WHERE is one of
//   heap    in memory of malloc
//   frame   in an array of a function, and so inside the stack of the main thread
//   thread  in an array of a function on another thread
//   signal  in an array of a function, as the stack for the handler of a signal
#define _GNU_SOURCE
#include "client.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

enum { AROUND = 64 << 10 };

static ucontext_t outside, inside;
static CURLM *multi;
static const char *base;
static int running = 1;
static size_t size;
static int is_for_signal;
static void (*work)(void);

static void perform_one(void) {
  CURL *easy = open_client(base, "/perform");
  perform(easy);
  curl_easy_cleanup(easy);
}

/// The handle is added on one stack and driven on another.
static void drive(void) {
  while (running) {
    curl_multi_perform(multi, &running);
    if (running) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
}

static void handle(int number) {
  (void)number;
  work();
}

static void run_in_handler(char *stack) {
  const stack_t own = {.ss_sp = stack, .ss_size = size}, none = {.ss_flags = SS_DISABLE};
  const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  sigaltstack(&own, NULL);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  sigaltstack(&none, NULL);
}

static void run_in_coroutine(char *stack) {
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = size;
  inside.uc_link = &outside;
  makecontext(&inside, work, 0);
  swapcontext(&outside, &inside);
}

/// Returns whether the data around the stack was changed.
static int run_on(char *memory, void (*function)(void)) {
  memset(memory, 0x5A, size + 2 * AROUND);
  work = function;
  if (is_for_signal) run_in_handler(memory + AROUND);
  else run_in_coroutine(memory + AROUND);
  int changed = 0;
  for (size_t index = 0; index < AROUND; index++)
    changed |= memory[index] != 0x5A || memory[size + AROUND + index] != 0x5A;
  return changed;
}

static void run_all(char *memory) {
  int changed = run_on(memory, perform_one);
  multi = curl_multi_init();
  CURL *easy = open_client(base, "/multi");
  curl_multi_add_handle(multi, easy);
  changed |= run_on(memory, drive);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  printf("changed: %d\n", changed);
}

static void *run_in_frame(void *unused) {
  char memory[size + 2 * AROUND];
  run_all(memory);
  return unused;
}

int main(int count, char **words) {
  if (count < 4) return 2;
  base = words[1];
  size = (size_t)atol(words[2]) << 10;
  is_for_signal = strcmp(words[3], "signal") == 0;
  curl_global_init(CURL_GLOBAL_ALL);
  pthread_t thread;
  if (strcmp(words[3], "heap") == 0) {
    char *memory = malloc(size + 2 * AROUND);
    if (!memory) return 3;
    run_all(memory);
    free(memory);
  } else if (strcmp(words[3], "thread") != 0) {
    run_in_frame(NULL);
  } else if (pthread_create(&thread, NULL, run_in_frame, NULL) == 0) {
    pthread_join(thread, NULL);
  }
  return 0;
}
