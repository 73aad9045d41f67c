#define _GNU_SOURCE
#include "page.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/// The size with which the command creates the file, whatever the page size of the machine.
enum { PAGE_BYTES = 4096 };

int page_open_file(const char *folder, const char *name, int flags, size_t *length) {
  char path[4096];
  const int written = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (written < 0 || (size_t)written >= sizeof path) return -1;
  const int file = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return -1;
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & 0022) != 0 || status.st_size < 0) {
    close(file);
    return -1;
  }
  *length = (size_t)status.st_size;
  return file;
}

struct sluice_attach_page *page_map(const char *folder) {
  size_t length = 0;
  const int file = page_open_file(folder, SLUICE_ATTACH_PAGE_NAME, O_RDWR, &length);
  if (file < 0) return NULL;
  struct sluice_attach_page *page = MAP_FAILED;
  // A shorter file would cause a SIGBUS at the first access.
  if (length >= PAGE_BYTES) page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (page == MAP_FAILED) return NULL;
  if (memcmp(page->magic, SLUICE_ATTACH_PAGE_MAGIC, sizeof SLUICE_ATTACH_PAGE_MAGIC) == 0 &&
      page->abi == SLUICE_ATTACH_ABI)
    return page;
  page_unmap(page);
  return NULL;
}

void page_unmap(struct sluice_attach_page *page) { munmap(page, PAGE_BYTES); }
