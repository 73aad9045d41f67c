// A library of a program that looks libcurl up and makes a transfer in its constructor, so before the constructors of
// preloaded libraries. The URL is in the variable EARLY_URL.
#include "client.h"

#include <dlfcn.h>

__attribute__((constructor)) static void begin(void) {
  const char *url = getenv("EARLY_URL");
  void *library = url ? dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) return;
  CURL *(*init)(void) = (CURL * (*)(void)) dlsym(library, "curl_easy_init");
  CURLcode (*set)(CURL *, CURLoption, ...) = (CURLcode(*)(CURL *, CURLoption, ...))dlsym(library, "curl_easy_setopt");
  CURLcode (*perform)(CURL *) = (CURLcode(*)(CURL *))dlsym(library, "curl_easy_perform");
  CURL *easy = init();
  (set)(easy, CURLOPT_URL, url);
  (set)(easy, CURLOPT_WRITEFUNCTION, print_body);
  printf("early: %d\n", (int)perform(easy));
}
