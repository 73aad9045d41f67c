// A library that another tool preloads. It has a dlsym of its own, which says what it was asked for, and calls the next
// one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *dlsym(void *library, const char *name) {
  static void *(*next)(void *, const char *);
#if defined(__x86_64__)
  if (!next) next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
#else
  if (!next) next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
#endif
  if (strcmp(name, "getpid") == 0 || strcmp(name, "curl_easy_perform") == 0) fprintf(stdout, "asked for %s\n", name);
  return next(library, name);
}
