// Makes allocations of 4 MiB and more fail in a program, as they do in a program with little memory (RLIMIT_AS).
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);

/// Limits only the program `reused`, not the commands that start it.
static int is_for_this(void) {
  const char *slash = strrchr(program_invocation_name, '/');
  return strcmp(slash ? slash + 1 : program_invocation_name, "reused") == 0;
}

void *malloc(size_t size) {
  if (size < 4u << 20 || !is_for_this()) return __libc_malloc(size);
  errno = ENOMEM;
  return NULL;
}
