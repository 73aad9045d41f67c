// Opening a truncated library would kill the program (SIGBUS), and opening a library that another user has written
// would run that user's code. The command has checked the digest of the file. Here it is enough to compare the file's
// identity: whoever writes to the file or replaces it changes its ctime or its inode. Computing the digest would cost
// each program 30 ms.
#define _GNU_SOURCE
#include "host_file.h"

#include "glibc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_expected(const char *path, const struct sluice_attach_file *expected) {
  struct stat status;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  return status.st_dev == expected->device && status.st_ino == expected->inode &&
         (uint64_t)status.st_size == expected->size && status.st_mtim.tv_sec == expected->mtime_seconds &&
         status.st_mtim.tv_nsec == expected->mtime_nanoseconds && status.st_ctim.tv_sec == expected->ctime_seconds &&
         status.st_ctim.tv_nsec == expected->ctime_nanoseconds;
}

/// The path of the host library. It is never taken from an environment variable, because others could set it.
static bool find(char *path, size_t size) {
  Dl_info own;
  if (!dladdr((void *)(uintptr_t)&host_file_open, &own) || !own.dli_fname || own.dli_fname[0] != '/') return false;
  const char *slash = strrchr(own.dli_fname, '/');
  const int written =
      snprintf(path, size, "%.*s/%s", (int)(slash - own.dli_fname), own.dli_fname, SLUICE_ATTACH_HOST_NAME);
  return written > 0 && (size_t)written < size;
}

/// Whether the program or another library in it has a function with the same name as a function of libjansson. The host
/// and its plugins would call that function in place of libjansson's.
static bool has_foreign_json(void) {
  const char *const names[] = {"json_object", "json_loadb", "json_string", "json_delete"};
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
    struct dl_find_object found;
    void *function = glibc_dlsym(RTLD_DEFAULT, names[index]);
    if (!function || _dl_find_object(function, &found) != 0) continue;
    const char *slash = strrchr(found.dlfo_link_map->l_name, '/');
    if (!slash || strncmp(slash + 1, "libjansson.so", 13) != 0) return true;
  }
  return false;
}

/// The entry of the environment for the Swift runtime's backtraces; NULL if it is not set.
static char **backtrace_entry(void) {
  char **entry = environ;
  while (*entry && strncmp(*entry, "SWIFT_BACKTRACE=", 16) != 0) entry++;
  return *entry ? entry : NULL;
}

/// Makes an empty environment if there is none, as after clearenv(3): the constructor of the library's Swift runtime reads
/// the environment and would crash.
static void ensure_environment(void) {
  static char *nothing[] = {NULL};
  if (!environ) environ = nothing;
}

/// Opens the library without messages of its Swift runtime: if SWIFT_BACKTRACE is set, this runtime would print a line
/// on standard error. The entry is replaced where it is, because unsetenv would move entries that other threads may be
/// reading.
static void *open_quietly(const char *path) {
  static char other[] = "SWIFT_BACKTRACE=enable=no";
  ensure_environment();
  char **entry = backtrace_entry();
  char *given = entry ? *entry : NULL;
  if (entry) *entry = other;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (entry) *entry = given;
  return library;
}

const struct sluice_attach_host *host_file_open(
    const struct sluice_attach_file *expected, const struct sluice_attach_program *program, enum sluice_attach_count *reason) {
  char path[4096];
  *reason = SLUICE_ATTACH_COUNT_NO_HOST;
  if (!find(path, sizeof path) || !is_expected(path, expected)) return NULL;
  if (has_foreign_json()) {
    *reason = SLUICE_ATTACH_COUNT_FOREIGN_JSON;
    return NULL;
  }
  void *library = open_quietly(path);
  // Clears the error: a later dlerror() of the program must not return an error of this library.
  dlerror();
  sluice_attach_open open = library ? (sluice_attach_open)glibc_dlsym(library, SLUICE_ATTACH_HOST_SYMBOL) : NULL;
  if (!open) return NULL;
  const struct sluice_attach_host *host = open(program);
  return host && host->abi == SLUICE_ATTACH_ABI ? host : NULL;
}
