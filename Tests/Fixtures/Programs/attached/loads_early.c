// usage: loads_early URL LIBRARY      a thread loads a library, whose constructor makes a transfer
#define _GNU_SOURCE
#include "client.h"

#include <dlfcn.h>
#include <pthread.h>

static void *load(void *path) {
  printf("%s\n", dlopen(path, RTLD_NOW) ? "loaded" : dlerror());
  return NULL;
}

int main(int count, char **words) {
  pthread_t thread;
  if (count != 3 || setenv("EARLY_URL", words[1], 1) != 0) return 2;
  if (pthread_create(&thread, NULL, load, words[2]) != 0) return 3;
  pthread_join(thread, NULL);
  return 0;
}
