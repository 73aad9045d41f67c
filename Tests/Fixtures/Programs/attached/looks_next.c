// A library between a program and libcurl. It stands in for curl_easy_perform, and looks up what comes after it. Another
// function that it looks up there is not its own.
#define _GNU_SOURCE
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

CURLcode curl_easy_perform(CURL *easy) {
  CURLcode (*next)(CURL *) = (CURLcode(*)(CURL *))dlsym(RTLD_NEXT, "curl_easy_perform");
  CURLcode (*set)(CURL *, CURLoption, ...) = (CURLcode(*)(CURL *, CURLoption, ...))dlsym(RTLD_NEXT, "curl_easy_setopt");
  pid_t (*id)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "getpid");
  (set)(easy, CURLOPT_USERAGENT, id && id() == getpid() ? "between" : "lost");
  puts("between");
  return next(easy);
}
