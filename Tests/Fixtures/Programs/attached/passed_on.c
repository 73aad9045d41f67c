// Makes, uses and frees handles on different threads.
#include "client.h"

#include <pthread.h>

enum { HANDLES = 32, THREADS = 4, TURNS = 5 };

static CURL *handles[HANDLES];
static size_t lengths[HANDLES];

static size_t count_body(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  *(size_t *)context += size * count;
  return size * count;
}

static void *use(void *number) {
  for (size_t index = (size_t)number; index < HANDLES; index += THREADS) {
    curl_easy_setopt(handles[index], CURLOPT_WRITEFUNCTION, count_body);
    curl_easy_setopt(handles[index], CURLOPT_WRITEDATA, &lengths[index]);
    if (curl_easy_perform(handles[index]) != CURLE_OK) return handles[index];
  }
  return NULL;
}

static void *end(void *number) {
  for (size_t index = (size_t)number; index < HANDLES; index += THREADS) curl_easy_cleanup(handles[index]);
  return NULL;
}

/// Runs the function on all threads. Each time, a thread gets a different share of the handles.
static int run(void *(*function)(void *), size_t turn) {
  pthread_t threads[THREADS];
  int failures = 0;
  for (size_t index = 0; index < THREADS; index++)
    pthread_create(&threads[index], NULL, function, (void *)((index + turn) % THREADS));
  for (size_t index = 0; index < THREADS; index++) {
    void *failed = NULL;
    pthread_join(threads[index], &failed);
    failures += failed != NULL;
  }
  return failures;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  for (size_t index = 0; index < HANDLES; index++) handles[index] = open_client(words[1], "/passed");
  for (size_t turn = 0; turn < TURNS; turn++) printf("turn %zu: %d failures\n", turn, run(use, turn));
  for (size_t index = 0; index < HANDLES; index++) printf("%zu ", lengths[index]);
  run(end, 1);
  puts("done");
  return 0;
}
