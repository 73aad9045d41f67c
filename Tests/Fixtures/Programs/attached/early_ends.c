// Drops transfers: removes, cleans up or resets the handle, or cleans up the multi handle that contains it.
#include "client.h"

static size_t drop_body(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes, (void)context;
  return size * count;
}

/// The transfer's output is not shown, because the time at which it is dropped varies.
static CURL *begin(CURLM *multi, const char *url) {
  CURL *easy = open_client(url, "/dropped");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
  curl_multi_add_handle(multi, easy);
  int running = 0;
  curl_multi_perform(multi, &running);
  return easy;
}

static void perform_again(CURL *easy, const char *url) {
  char whole[512];
  snprintf(whole, sizeof whole, "%s/again", url);
  curl_easy_setopt(easy, CURLOPT_URL, whole);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, print_body);
  perform(easy);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  CURLM *multi = curl_multi_init();
  CURL *easy = begin(multi, words[1]);
  printf("removed: %d\n", curl_multi_remove_handle(multi, easy));
  printf("removed twice: %d\n", curl_multi_remove_handle(multi, easy));
  perform_again(easy, words[1]);
  curl_easy_cleanup(easy);

  easy = begin(multi, words[1]);
  printf("added twice: %d\n", curl_multi_add_handle(multi, easy));
  printf("performed in a multi handle: %d\n", (int)curl_easy_perform(easy));
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);

  easy = begin(multi, words[1]);
  curl_easy_cleanup(easy);

  easy = begin(multi, words[1]);
  curl_easy_reset(easy);
  curl_multi_remove_handle(multi, easy);
  curl_easy_cleanup(easy);

  CURL *others[3];
  for (int index = 0; index < 3; index++) others[index] = begin(multi, words[1]);
  printf("cleaned up around them: %d\n", curl_multi_cleanup(multi));
  for (int index = 0; index < 3; index++) perform_again(others[index], words[1]);
  for (int index = 0; index < 3; index++) curl_easy_cleanup(others[index]);
  return 0;
}
