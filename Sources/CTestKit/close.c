#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// A descriptor that is closed twice is a fault of memory safety: by the second time the number may be another thread's,
// which then reads or writes a file that is not its own. libc says so with EBADF, which nobody looks at, and only where
// nobody has the number yet. So the test program has its own close(), which ends it there.
//
// Not under ThreadSanitizer, which must see every close().
#if !__has_feature(thread_sanitizer)
int close(int descriptor) {
  int status = (int)syscall(SYS_close, descriptor);
  if (status == 0 || errno != EBADF) return status;
  fprintf(stderr, "close(%d): this descriptor is not open; it was closed before\n", descriptor);
  abort();
}
#endif
