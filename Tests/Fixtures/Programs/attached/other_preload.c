// A library that another tool preloads. It also defines curl_easy_perform, which calls the next definition.
#define _GNU_SOURCE
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>

CURLcode curl_easy_perform(CURL *easy) {
  CURLcode (*next)(CURL *) = (CURLcode(*)(CURL *))dlsym(RTLD_NEXT, "curl_easy_perform");
  puts("the other library begins");
  const CURLcode code = next(easy);
  puts("the other library ends");
  return code;
}
