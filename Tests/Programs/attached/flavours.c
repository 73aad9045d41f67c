// Loads several modules, each with its own libcurl, into one process: `flavours MODE URL MODULE…`. MODE is local, deep
// or global.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **words) {
  if (count < 4) return 2;
  int mode = RTLD_NOW | RTLD_LOCAL;
  if (strcmp(words[1], "deep") == 0) mode = RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND;
  if (strcmp(words[1], "global") == 0) mode = RTLD_NOW | RTLD_GLOBAL;
  for (int index = 3; index < count; index++) {
    void *module = dlopen(words[index], mode);
    int (*run)(const char *) = module ? (int (*)(const char *))dlsym(module, "run") : NULL;
    if (!run) {
      puts(dlerror());
      return 3;
    }
    if (run(words[2]) != 0) return 4;
  }
  return 0;
}
