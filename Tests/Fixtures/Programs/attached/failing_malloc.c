// Makes one allocation of libsluice-attach.so fail: the allocation with the number FAIL_AT, counted from 1.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static long number;

static int must_fail(const void *caller) {
  struct dl_find_object found;
  if (_dl_find_object((void *)caller, &found) != 0) return 0;
  const char *slash = strrchr(found.dlfo_link_map->l_name, '/');
  if (!slash || strcmp(slash, "/libsluice-attach.so") != 0) return 0;
  const char *at = getenv("FAIL_AT");
  return at && ++number == atol(at);
}

void *malloc(size_t size) { return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
  return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}

char *strdup(const char *text) {
  const size_t size = strlen(text) + 1;
  char *copy = must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

