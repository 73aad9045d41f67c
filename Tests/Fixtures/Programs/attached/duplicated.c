// Duplicates a handle before, during and after a transfer.
#include "client.h"

static CURL *original, *copy;

static size_t duplicate(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  if (!copy) copy = curl_easy_duphandle(original);
  return fwrite(bytes, size, count, stdout);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  struct curl_slist *lines = curl_slist_append(NULL, "X-One: 1");
  original = open_client(words[1], "/original");
  curl_easy_setopt(original, CURLOPT_HTTPHEADER, lines);
  // Libcurl 7.88 cannot duplicate a handle whose copied body has no given size.
  curl_easy_setopt(original, CURLOPT_POSTFIELDSIZE, 6L);
  curl_easy_setopt(original, CURLOPT_COPYPOSTFIELDS, "body=1");
  CURL *early = curl_easy_duphandle(original);
  curl_easy_setopt(original, CURLOPT_WRITEFUNCTION, duplicate);
  perform(original);
  if (!early || !copy) return 3;
  curl_easy_cleanup(original);
  curl_easy_setopt(copy, CURLOPT_WRITEFUNCTION, print_body);
  perform(copy);
  perform(early);
  CURL *late = curl_easy_duphandle(copy);
  curl_easy_cleanup(copy);
  curl_easy_setopt(late, CURLOPT_HTTPHEADER, NULL);
  curl_slist_free_all(lines);
  perform(late);
  curl_easy_cleanup(late);
  curl_easy_setopt(early, CURLOPT_HTTPHEADER, NULL);
  perform(early);
  curl_easy_cleanup(early);
  return 0;
}
