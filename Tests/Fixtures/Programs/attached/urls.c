// Every way to set the URL of a request.
#include "client.h"

static void get(CURL *easy, const char *url) {
  curl_easy_setopt(easy, CURLOPT_URL, url);
  perform(easy);
}

int main(int count, char **words) {
  if (count < 2) return 2;
  const char *authority = strstr(words[1], "//") + 2;
  const char *port = strrchr(authority, ':') + 1;
  char url[512];
  CURL *easy = open_client(words[1], "/plain");
  perform(easy);
  snprintf(url, sizeof url, "%s/guessed?also=http://other.invalid/", authority);
  get(easy, url);
  snprintf(url, sizeof url, "http:/%s/one-slash", authority);
  get(easy, url);
  snprintf(url, sizeof url, "HTTP://user:word@%s/a/../b#part", authority);
  get(easy, url);
  curl_easy_setopt(easy, CURLOPT_DEFAULT_PROTOCOL, "http");
  snprintf(url, sizeof url, "%s/default", authority);
  get(easy, url);
  curl_easy_setopt(easy, CURLOPT_PORT, atol(port));
  get(easy, "http://127.0.0.1:1/other-port");
  curl_easy_setopt(easy, CURLOPT_PORT, 0L);
  CURLU *parsed = curl_url();
  snprintf(url, sizeof url, "%s/parsed", words[1]);
  curl_url_set(parsed, CURLUPART_URL, url, 0);
  curl_easy_setopt(easy, CURLOPT_CURLU, parsed);
  perform(easy);
  // Libcurl uses the parsed URL, although CURLOPT_URL was set later.
  get(easy, "http://127.0.0.1:1/unused");
  curl_url_set(parsed, CURLUPART_PATH, "/changed", 0);
  perform(easy);
  curl_easy_setopt(easy, CURLOPT_CURLU, NULL);
  curl_url_cleanup(parsed);
  get(easy, "http://[:::");
  get(easy, "nonsense://127.0.0.1/");
  curl_easy_cleanup(easy);
  return 0;
}
