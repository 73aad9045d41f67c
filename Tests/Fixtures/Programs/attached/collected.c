// A garbage collector stops the threads of its program with a signal, and then reads their stacks from the stack pointer
// up to the end. This program makes a transfer on the main thread and on another one. It prints how often the signal
// found a stack pointer on the thread's own stack.
#define _GNU_SOURCE
#include "client.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

static volatile sig_atomic_t own, other;
static _Thread_local uintptr_t lowest, highest;

static void stop(int number) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  (void)number;
  if (here >= lowest && here <= highest) own++;
  else other++;
}

static void *run(void *url) {
  pthread_attr_t attributes;
  void *address = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) exit(3);
  pthread_attr_getstack(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  lowest = (uintptr_t)address;
  highest = lowest + size;
  CURL *easy = open_client(url, "/collected");
  perform(easy);
  curl_easy_cleanup(easy);
  return NULL;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  const struct sigaction action = {.sa_handler = stop};
  sigaction(SIGUSR1, &action, NULL);
  run(words[1]);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, words[1]) != 0) return 4;
  pthread_join(thread, NULL);
  printf("own: %d, other: %d\n", (int)own, (int)other);
  return 0;
}
