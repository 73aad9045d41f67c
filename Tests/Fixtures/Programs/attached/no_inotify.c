// A library to preload: no instance of inotify is free.
#include <errno.h>

int inotify_init1(int flags) {
  (void)flags;
  errno = EMFILE;
  return -1;
}
