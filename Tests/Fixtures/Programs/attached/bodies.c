// Sends bodies that libcurl copies, borrows, or reads from a callback. Also sends a form, and then a request for which
// libcurl must forget the form.
#include "client.h"

static size_t left;

static size_t read_body(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  const size_t length = left < size * count ? left : size * count;
  memset(bytes, 'r', length);
  left -= length;
  return length;
}

static void put(CURL *easy) {
  left = 1000;
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_body);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)1000);
  perform(easy);
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 0L);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  CURL *easy = open_client(words[1], "/bodies");
  char text[] = "copied";
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, text);
  memset(text, 'x', sizeof text - 1);
  perform(easy);
  perform(easy);
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "a longer one that was copied too");
  perform(easy);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 5L);
  curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, "a\0b\0c");
  perform(easy);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, 3L);
  perform(easy);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, -1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "borrowed");
  perform(easy);
  put(easy);
  perform(easy);
  curl_mime *form = curl_mime_init(easy);
  curl_mimepart *part = curl_mime_addpart(form);
  curl_mime_name(part, "field");
  curl_mime_data(part, "value", CURL_ZERO_TERMINATED);
  curl_easy_setopt(easy, CURLOPT_MIMEPOST, form);
  printf("form => %d\n", (int)curl_easy_perform(easy));
  curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
  curl_mime_free(form);
  perform(easy);
  curl_easy_cleanup(easy);
  return 0;
}
