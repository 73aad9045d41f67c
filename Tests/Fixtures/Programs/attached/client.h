// Shared parts of the programs that tests run with and without `sluice attach`. The programs print the results of their
// calls, so that a test can compare two runs byte by byte.
#ifndef CLIENT_H
#define CLIENT_H
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline size_t print_body(char *bytes, size_t size, size_t count, void *context) {
  (void)context;
  return fwrite(bytes, size, count, stdout);
}

/// Makes a handle for the URL `url` followed by `path`. Its response is written to standard output.
static inline CURL *open_client(const char *url, const char *path) {
  char whole[512];
  snprintf(whole, sizeof whole, "%s%s", url, path);
  CURL *easy = curl_easy_init();
  if (!easy) exit(99);
  curl_easy_setopt(easy, CURLOPT_URL, whole);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, print_body);
  return easy;
}

/// Performs the transfer, and prints its result.
static inline CURLcode perform(CURL *easy) {
  const CURLcode code = curl_easy_perform(easy);
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  printf("=> %d %ld\n", (int)code, status);
  return code;
}

#endif
