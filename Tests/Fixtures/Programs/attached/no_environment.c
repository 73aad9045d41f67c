// Removes the environment before its first transfer.
#define _GNU_SOURCE
#include "client.h"

int main(int count, char **words) {
  if (count < 2) return 2;
  CURL *easy = open_client(words[1], "/");
  clearenv();
  perform(easy);
  setenv("LATER", "1", 1);
  perform(easy);
  curl_easy_cleanup(easy);
  return 0;
}
