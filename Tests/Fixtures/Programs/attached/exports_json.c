// A program that defines its own function with the name of a function of libjansson.
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
