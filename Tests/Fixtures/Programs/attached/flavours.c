// Loads several modules, each with its own libcurl, into one process: `flavours MODE URL MODULE…`. MODE says how a
// module is opened: local, global or deep, or deep with another function for opening: in the base namespace (base),
// found by its version (version), or found in libc (libc). With the mode closed, each module is closed before the next
// one is opened, and all are opened twice.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef void *(*open_function)(const char *, int);

static void *open_module(const char *mode, const char *path) {
  const int deep = RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND;
  if (strcmp(mode, "deep") == 0) return dlopen(path, deep);
  if (strcmp(mode, "base") == 0) return dlmopen(LM_ID_BASE, path, deep);
  if (strcmp(mode, "version") == 0) return ((open_function)dlvsym(RTLD_DEFAULT, "dlopen", "GLIBC_2.34"))(path, deep);
  if (strcmp(mode, "libc") == 0) return ((open_function)dlsym(dlopen("libc.so.6", RTLD_NOW), "dlopen"))(path, deep);
  return dlopen(path, RTLD_NOW | (strcmp(mode, "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
}

int main(int count, char **words) {
  if (count < 4) return 2;
  const int is_closed = strcmp(words[1], "closed") == 0;
  for (int round = 0; round <= is_closed; round++)
    for (int index = 3; index < count; index++) {
      void *module = open_module(words[1], words[index]);
      int (*run)(const char *) = module ? (int (*)(const char *))dlsym(module, "run") : NULL;
      if (!run) {
        puts(dlerror());
        return 3;
      }
      if (run(words[2]) != 0) return 4;
      if (is_closed) dlclose(module);
    }
  return 0;
}
