// A program with a function that has the name of one of libjansson, for its own use.
#include "client.h"

void *json_object(void);
void *json_object(void) {
  puts("the program's own");
  return NULL;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  json_object();
  CURL *easy = open_client(words[1], "/exports-json");
  perform(easy);
  curl_easy_cleanup(easy);
  return 0;
}
