// Checks that successful calls do not change errno and dlerror, because a program can read them at any time.
#define _GNU_SOURCE
#include "client.h"

#include <dlfcn.h>
#include <errno.h>

int main(int count, char **words) {
  if (count < 2) return 2;
  errno = 0;
  CURL *easy = open_client(words[1], "/errors");
  printf("after the options: %d\n", errno);
  errno = EDOM;
  CURL *copy = curl_easy_duphandle(easy);
  curl_easy_cleanup(copy);
  curl_easy_reset(easy);
  printf("after a copy: %d\n", errno);
  const char *error = dlerror();
  printf("dlerror: %s\n", error ? error : "none");
  errno = 0;
  curl_easy_cleanup(easy);
  easy = open_client(words[1], "/errors");
  perform(easy);
  error = dlerror();
  printf("dlerror: %s\n", error ? error : "none");
  curl_easy_cleanup(easy);
  return 0;
}
