// A transfer on a thread with a stack of the given size in KiB. With "used-up", no descriptor is free when the thread
// ends.
#define _GNU_SOURCE
#include "client.h"

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

int main(int count, char **words) {
  if (count < 3) return 2;
  uses_up = count > 3 && strcmp(words[3], "used-up") == 0;
  curl_global_init(CURL_GLOBAL_ALL);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)atol(words[2]) * 1024) != 0) return 3;
  if (pthread_create(&thread, &attributes, run, words[1]) != 0) return 4;
  pthread_join(thread, NULL);
  return 0;
}
