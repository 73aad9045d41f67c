// Transfers on several threads at once: `threads URL COUNT`. Each thread makes two.
#include "client.h"

#include <pthread.h>

enum { MOST = 16 };

static size_t drop_body(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static void *run(void *url) {
  CURL *easy = open_client(url, "/thread");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  long failures = 0;
  for (int number = 0; number < 2; number++) failures += curl_easy_perform(easy) != CURLE_OK;
  curl_easy_cleanup(easy);
  return (void *)failures;
}

int main(int count, char **words) {
  if (count < 3 || atoi(words[2]) > MOST) return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  pthread_t threads[MOST];
  const int thread_count = atoi(words[2]);
  for (int index = 0; index < thread_count; index++)
    if (pthread_create(&threads[index], NULL, run, words[1]) != 0) return 3;
  long failures = 0;
  for (int index = 0; index < thread_count; index++) {
    void *result = NULL;
    pthread_join(threads[index], &result);
    failures += (long)result;
  }
  printf("%ld failures\n", failures);
  curl_global_cleanup();
  return 0;
}
