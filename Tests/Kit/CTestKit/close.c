#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// Closing a descriptor twice is a fault of memory safety: at the second close the number may belong to another thread,
// which then reads or writes a file that is not its own. libc returns EBADF, but only if the number is still free, and
// no caller checks it. So the test program has its own close(), which ends the process in that case.
//
// It is left out under ThreadSanitizer, which must see every close().
#if !__has_feature(thread_sanitizer)
int close(int descriptor) {
  int status = (int)syscall(SYS_close, descriptor);
  if (status == 0 || errno != EBADF) return status;
  fprintf(stderr, "close(%d): this descriptor is not open; it was closed before\n", descriptor);
  abort();
}
#endif
