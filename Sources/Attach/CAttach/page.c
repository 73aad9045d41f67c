#define _GNU_SOURCE
#include "page.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// The size with which the command creates the file, whatever the page size of the machine.
enum { PAGE_BYTES = 4096 };

/// Whether an open file is a regular file that only this user can write.
static bool is_own(int file, struct stat *status) {
  return fstat(file, status) == 0 && S_ISREG(status->st_mode) && status->st_uid == geteuid() &&
         (status->st_mode & 0022) == 0 && status->st_size >= 0;
}

int page_open_file(const char *folder, const char *name, int flags, size_t *length) {
  // The path is not on the stack, which may be the small one of a coroutine.
  char *path = malloc(strlen(folder) + strlen(name) + 2);
  if (!path) return -1;
  stpcpy(stpcpy(stpcpy(path, folder), "/"), name);
  const int file = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  free(path);
  if (file < 0) return -1;
  struct stat status;
  if (!is_own(file, &status)) {
    close(file);
    return -1;
  }
  *length = (size_t)status.st_size;
  return file;
}

static struct sluice_attach_page *map(int file, size_t length) {
  struct sluice_attach_page *page = MAP_FAILED;
  // A shorter file would cause a SIGBUS at the first access.
  if (length >= PAGE_BYTES) page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return NULL;
  if (memcmp(page->magic, SLUICE_ATTACH_PAGE_MAGIC, sizeof SLUICE_ATTACH_PAGE_MAGIC) == 0 &&
      page->abi == SLUICE_ATTACH_ABI)
    return page;
  page_unmap(page);
  return NULL;
}

/// The program may have closed the descriptor and reused its number. The page names its own file. If the file has no
/// name any more, the command has ended.
static struct sluice_attach_page *map_inherited(int descriptor) {
  struct stat status;
  if (descriptor < 0 || !is_own(descriptor, &status)) return NULL;
  struct sluice_attach_page *page = map(descriptor, (size_t)status.st_size);
  const bool is_page = page && page->device == status.st_dev && page->inode == status.st_ino && status.st_nlink > 0;
  if (!page || is_page) return page;
  page_unmap(page);
  return NULL;
}

struct sluice_attach_page *page_map(const char *folder, int descriptor) {
  size_t length = 0;
  const int file = page_open_file(folder, SLUICE_ATTACH_PAGE_NAME, O_RDWR, &length);
  struct sluice_attach_page *page = file < 0 ? NULL : map(file, length);
  if (file >= 0) close(file);
  return page ? page : map_inherited(descriptor);
}

void page_unmap(struct sluice_attach_page *page) { munmap(page, PAGE_BYTES); }
