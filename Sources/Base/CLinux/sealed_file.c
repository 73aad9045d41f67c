#define _GNU_SOURCE
#include "sealed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static bool write_all(int file, const char *bytes, size_t length) {
  while (length > 0) {
    const ssize_t count = write(file, bytes, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes += count;
    length -= (size_t)count;
  }
  return true;
}

int sluice_open_sealed(const char *name, const void *bytes, size_t length, bool is_inherited) {
  const int file = memfd_create(name, MFD_ALLOW_SEALING | (is_inherited ? 0 : MFD_CLOEXEC));
  if (file < 0) return -1;
  const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (write_all(file, bytes, length) && fcntl(file, F_ADD_SEALS, seals) == 0) return file;
  const int reason = errno;
  close(file);
  errno = reason;
  return -1;
}
