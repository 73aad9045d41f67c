// A transfer on a thread with a stack of the given size in KiB.
#include "client.h"

#include <pthread.h>

static void *run(void *url) {
  CURL *easy = open_client(url, "/small-stack");
  perform(easy);
  curl_easy_cleanup(easy);
  return NULL;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)atol(words[2]) * 1024) != 0) return 3;
  if (pthread_create(&thread, &attributes, run, words[1]) != 0) return 4;
  pthread_join(thread, NULL);
  return 0;
}
