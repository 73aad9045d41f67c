// Looks up libcurl's functions in a library that it has opened itself, and so bypasses the preloaded ones.
#define _GNU_SOURCE
#include "client.h"

#include <dlfcn.h>

int main(int count, char **words) {
  if (count < 2) return 2;
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  CURL *(*init)(void) = (CURL * (*)(void)) dlsym(library, "curl_easy_init");
  CURLcode (*set)(CURL *, CURLoption, ...) = (CURLcode(*)(CURL *, CURLoption, ...))dlsym(library, "curl_easy_setopt");
  CURLcode (*run)(CURL *) = (CURLcode(*)(CURL *))dlsym(library, "curl_easy_perform");
  void (*end)(CURL *) = (void (*)(CURL *))dlsym(library, "curl_easy_cleanup");
  char url[512];
  snprintf(url, sizeof url, "%s/looked-up", words[1]);
  CURL *easy = init();
  (set)(easy, CURLOPT_URL, url);
  (set)(easy, CURLOPT_WRITEFUNCTION, print_body);
  printf("=> %d\n", (int)run(easy));
  end(easy);
  return 0;
}
