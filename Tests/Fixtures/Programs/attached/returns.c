// Makes a transfer and forks twice. The first child returns from main at once, the second one after a transfer. Leak
// checkers examine a process when it returns from main.
#define _GNU_SOURCE
#include "client.h"

#include <sys/wait.h>
#include <unistd.h>

static void get(const char *url, const char *path) {
  CURL *easy = open_client(url, path);
  perform(easy);
  curl_easy_cleanup(easy);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  curl_global_init(CURL_GLOBAL_ALL);
  get(words[1], "/parent");
  for (int number = 0; number < 2; number++) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      if (number == 1) get(words[1], "/child");
      curl_global_cleanup();
      return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d: %x\n", number, (unsigned)status);
  }
  curl_global_cleanup();
  return 0;
}
