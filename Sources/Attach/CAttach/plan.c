#define _GNU_SOURCE
#include "plan.h"

#include "CAttachABI.h"
#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLAN_LIMIT_BYTES = 16 << 20 };

static bool read_whole(int file, char *bytes, size_t length) {
  size_t done = 0;
  while (done < length) {
    const ssize_t count = pread(file, bytes + done, length - done, (off_t)done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

/// The bytes of a file after its first line; NULL if the file does not begin with the first line of this plan.
static char *read_plan(int file, size_t size, uint64_t number, size_t *length) {
  char head[64];
  const int head_length = snprintf(head, sizeof head, "%s%" PRIu64 "\n", SLUICE_ATTACH_PLAN_MAGIC, number);
  if (size < (size_t)head_length || size > PLAN_LIMIT_BYTES) return NULL;
  char *bytes = malloc(size + 1);
  if (!bytes) return NULL;
  if (!read_whole(file, bytes, size) || memcmp(bytes, head, (size_t)head_length) != 0) {
    free(bytes);
    return NULL;
  }
  *length = size - (size_t)head_length;
  memmove(bytes, bytes + head_length, *length);
  bytes[*length] = 0;
  return bytes;
}

/// The program may have closed the descriptor and reused its number: only a sealed file of this user can be the plan.
static char *from_descriptor(int descriptor, uint64_t number, size_t *length) {
  const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
  struct stat status;
  if (descriptor < 0 || (fcntl(descriptor, F_GET_SEALS) & seals) != seals) return NULL;
  // The descriptor must also be checked: if F_GET_SEALS fails, it returns -1, which has all bits set.
  if (fcntl(descriptor, F_GET_SEALS) < 0 || fstat(descriptor, &status) != 0) return NULL;
  if (status.st_uid != geteuid() || status.st_size < 0) return NULL;
  return read_plan(descriptor, (size_t)status.st_size, number, length);
}

static char *from_file(const char *folder, uint64_t number, size_t *length) {
  char name[64];
  snprintf(name, sizeof name, "%s%" PRIu64, SLUICE_ATTACH_PLAN_PREFIX, number);
  size_t size = 0;
  const int file = page_open_file(folder, name, O_RDONLY, &size);
  if (file < 0) return NULL;
  char *plan = read_plan(file, size, number, length);
  close(file);
  return plan;
}

char *plan_read(uint64_t number, int descriptor, const char *folder, size_t *length) {
  if (number == 0) return NULL;
  char *plan = from_descriptor(descriptor, number, length);
  return plan ? plan : from_file(folder, number, length);
}
