// Options and lists of headers that change between the transfers of one handle.
#include "client.h"

int main(int count, char **words) {
  if (count < 2) return 2;
  CURL *easy = open_client(words[1], "/first");
  struct curl_slist *lines = curl_slist_append(NULL, "X-One: 1");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
  perform(easy);
  perform(easy);
  struct curl_slist *others = curl_slist_append(NULL, "X-Two: 2");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, others);
  curl_slist_free_all(lines);
  perform(easy);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
  curl_slist_free_all(others);
  perform(easy);
  curl_easy_reset(easy);
  printf("without a URL: %d\n", (int)curl_easy_perform(easy));
  char url[512];
  snprintf(url, sizeof url, "%s/after-reset", words[1]);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, print_body);
  curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  perform(easy);
  curl_easy_setopt(easy, CURLOPT_NOBODY, 0L);
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
  perform(easy);
  curl_easy_cleanup(easy);
  return 0;
}
