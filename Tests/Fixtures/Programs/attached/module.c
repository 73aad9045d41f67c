// A part of a program that brings its own libcurl along, as a module of Python or PHP does.
#include "client.h"

/// The second transfer is made through a table, because the dynamic loader binds an address in data differently from a
/// call.
static CURLcode (*const functions[])(CURL *) = {curl_easy_perform};

int run(const char *url) {
  CURL *easy = open_client(url, "/module");
  perform(easy);
  printf("%s %d\n", strncmp(curl_version_info(CURLVERSION_NOW)->ssl_version, "GnuTLS", 6) == 0 ? "GnuTLS" : "OpenSSL",
         (int)functions[0](easy));
  curl_easy_cleanup(easy);
  return 0;
}
