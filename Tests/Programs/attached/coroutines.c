// Transfers on stacks that the system does not know, as coroutines have them: `coroutines URL [KIB]`. The stack is in
// memory of malloc, between other data that must not change. With KIB, the program has little room: only that much more
// than libcurl needs.
#define _GNU_SOURCE
#include "client.h"

#include <ucontext.h>

enum { SMALLEST = 96 << 10, AROUND = 64 << 10 };

static ucontext_t outside, inside;
static CURLM *multi;
static const char *base;
static int running = 1;

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

static int run_on(char *memory, size_t size, void (*function)(void)) {
  memset(memory, 0x5A, size + 2 * AROUND);
  getcontext(&inside);
  inside.uc_stack.ss_sp = memory + AROUND;
  inside.uc_stack.ss_size = size;
  inside.uc_link = &outside;
  makecontext(&inside, function, 0);
  swapcontext(&outside, &inside);
  int changed = 0;
  for (size_t index = 0; index < AROUND; index++)
    changed |= memory[index] != 0x5A || memory[size + AROUND + index] != 0x5A;
  return changed;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  base = words[1];
  curl_global_init(CURL_GLOBAL_ALL);
  const size_t size = SMALLEST + (count > 2 ? (size_t)atol(words[2]) << 10 : 0);
  char *memory = malloc(size + 2 * AROUND);
  if (!memory) return 3;
  int changed = run_on(memory, size, perform_one);
  multi = curl_multi_init();
  CURL *easy = open_client(base, "/multi");
  curl_multi_add_handle(multi, easy);
  changed |= run_on(memory, size, drive);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);
  curl_multi_cleanup(multi);
  printf("changed: %d\n", changed);
  free(memory);
  return 0;
}
