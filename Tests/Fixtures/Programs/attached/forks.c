// Forks while other threads make transfers: `forks URL CHILDREN THREADS [PROGRAM ARG…]`. Each child makes a transfer
// itself. If there is a PROGRAM, every second child runs it instead.
#define _GNU_SOURCE
#include "client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 16 };

static _Atomic int is_over;
static const char *url;

static size_t drop_body(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

static int get(const char *path) {
  CURL *easy = open_client(url, path);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
  const CURLcode code = curl_easy_perform(easy);
  curl_easy_cleanup(easy);
  return code == CURLE_OK ? 0 : (int)code;
}

static void *work(void *unused) {
  int failures = 0;
  while (!is_over) failures += get("/parent") != 0;
  (void)unused;
  return (void *)(long)failures;
}

static pid_t start(int number, char **program) {
  const pid_t child = fork();
  if (child != 0) return child;
  // A child that hangs must not block the test.
  alarm(60);
  if (program[0] && number % 2 == 1) {
    execvp(program[0], program);
    _exit(98);
  }
  _exit(get("/child"));
}

int main(int count, char **words) {
  if (count < 4) return 2;
  url = words[1];
  curl_global_init(CURL_GLOBAL_ALL);
  const int children = atoi(words[2]), threads = atoi(words[3]);
  pthread_t workers[64];
  for (int index = 0; index < threads; index++) pthread_create(&workers[index], NULL, work, NULL);
  int bad = 0, running = 0;
  for (int number = 0; number < children || running > 0;) {
    if (number < children && running < AT_ONCE) {
      if (start(number++, words + 4) > 0) running++;
      else bad++;
      continue;
    }
    int status = 0;
    wait(&status);
    running--;
    if (status != 0) fprintf(stderr, "a child ended with status %x\n", (unsigned)status);
    bad += status != 0;
  }
  is_over = 1;
  long failures = 0;
  for (int index = 0; index < threads; index++) {
    void *result = NULL;
    pthread_join(workers[index], &result);
    failures += (long)result;
  }
  printf("%d children, %d bad; %ld failures in the parent\n", children, bad, failures);
  return bad != 0 || failures != 0;
}
