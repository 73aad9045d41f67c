// A transfer on a thread with a stack of the given size in KiB. With "used-up", no descriptor is free when the thread
// ends. With "main", the transfer is made on the main thread, of whose stack only the given size is left.
#define _GNU_SOURCE
#include "client.h"

#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

static int uses_up;

static void use_up(void) {
  const struct rlimit limit = {64, 64};
  setrlimit(RLIMIT_NOFILE, &limit);
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
}

static void *run(void *url) {
  CURL *easy = open_client(url, "/small-stack");
  perform(easy);
  curl_easy_cleanup(easy);
  if (uses_up) use_up();
  return NULL;
}

static int run_on_main(size_t size, char *url) {
  pthread_attr_t attributes;
  void *lowest = NULL;
  size_t whole = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 3;
  pthread_attr_getstack(&attributes, &lowest, &whole);
  pthread_attr_destroy(&attributes);
  const size_t left = (size_t)((char *)__builtin_frame_address(0) - (char *)lowest);
  if (left < size) return 4;
  char *volatile used = alloca(left - size);
  used[0] = 1;
  run(url);
  return 0;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  uses_up = count > 3 && strcmp(words[3], "used-up") == 0;
  curl_global_init(CURL_GLOBAL_ALL);
  const size_t size = (size_t)atol(words[2]) * 1024;
  if (count > 3 && strcmp(words[3], "main") == 0) return run_on_main(size, words[1]);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, size) != 0) return 3;
  if (pthread_create(&thread, &attributes, run, words[1]) != 0) return 4;
  pthread_join(thread, NULL);
  return 0;
}
