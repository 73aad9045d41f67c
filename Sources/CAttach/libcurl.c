// Finds the functions of libcurl that a caller would have reached without this library: those of another preloaded
// library if it comes next in the loader's order, otherwise those of the libcurl that the caller's library needs.
//
// RTLD_NEXT alone is not enough. It does not find the libcurl of a library that was opened with RTLD_LOCAL, such as a
// module of Python, and it finds the first libcurl of a process for every caller.
#define _GNU_SOURCE
#include "libcurl.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/// A library or program that has called a function of this library. Entries are never removed.
struct caller {
  struct caller *next;
  const struct link_map *object;
  /// A library is recognized by `object` and by this address. The link map of a closed library can be reused for
  /// another library, but that library very probably has its dynamic section at another address.
  const ElfW(Dyn) *section;
  struct libcurl curl;
};

static _Atomic(struct caller *) callers;
static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

/// The loaded library that has the address in one of its segments; NULL if no library has it.
static const struct link_map *object_of(const void *address) {
  struct dl_find_object found;
  return _dl_find_object((void *)(uintptr_t)address, &found) == 0 ? found.dlfo_link_map : NULL;
}

/// The entries of a library's dynamic section that are needed here.
struct dynamic {
  const char *strings;
  const ElfW(Verneed) *versions;
  size_t version_count;
};

static const void *pointer_of(const struct link_map *object, ElfW(Addr) value) {
  // glibc has relocated the entries of ordinary libraries, but not those of the vDSO.
  return (const void *)(value < object->l_addr ? object->l_addr + value : value);
}

static struct dynamic dynamic_of(const struct link_map *object) {
  struct dynamic dynamic = {0};
  for (const ElfW(Dyn) *entry = object->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_STRTAB) dynamic.strings = pointer_of(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_VERNEED) dynamic.versions = pointer_of(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_VERNEEDNUM) dynamic.version_count = entry->d_un.d_val;
  }
  return dynamic;
}

bool is_libcurl(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  return strncmp(name, "libcurl.", 8) == 0 || strncmp(name, "libcurl-", 8) == 0;
}

/// The symbol version that the caller needs of a library; NULL if it needs none.
static const char *wanted_version(const struct dynamic *dynamic, const char *library) {
  const ElfW(Verneed) *need = dynamic->versions;
  for (size_t index = 0; need && index < dynamic->version_count; index++) {
    if (strcmp(dynamic->strings + need->vn_file, library) == 0 && need->vn_cnt > 0) {
      const ElfW(Vernaux) *version = (const void *)((const char *)need + need->vn_aux);
      return dynamic->strings + version->vna_name;
    }
    if (need->vn_next == 0) break;
    need = (const void *)((const char *)need + need->vn_next);
  }
  return NULL;
}

/// The library from which one caller gets libcurl's functions.
struct source {
  /// A reference that keeps the library mapped, because pointers to its functions are stored. NULL if the caller needs
  /// no libcurl.
  void *library;
  const char *version;
  /// Whether `library` is the caller itself.
  bool is_indirect;
};

static struct source source_of(const struct link_map *object) {
  const struct dynamic dynamic = object ? dynamic_of(object) : (struct dynamic){0};
  for (const ElfW(Dyn) *entry = dynamic.strings ? object->l_ld : NULL; entry && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag != DT_NEEDED) continue;
    const char *name = dynamic.strings + entry->d_un.d_val;
    if (!is_libcurl(name)) continue;
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library) return (struct source){library, wanted_version(&dynamic, name), false};
  }
  // The caller is a libcurl that calls itself through its own exported functions.
  if (object && is_libcurl(object->l_name))
    return (struct source){dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD), NULL, false};
  // The caller does not need libcurl itself, but a library that it needs may do so.
  if (object && object->l_name[0]) return (struct source){dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD), NULL, true};
  return (struct source){NULL, NULL, false};
}

static bool is_of_this_library(const void *function) { return object_of(function) == object_of((void *)&libcurl_of); }

static void *find(const struct source *source, const char *name) {
  void *next = dlsym(RTLD_NEXT, name);
  const struct link_map *owner = next ? object_of(next) : NULL;
  // The function of another preloaded library comes first, as it would without this library.
  if (owner && !is_libcurl(owner->l_name)) return next;
  if (!source->library || (source->is_indirect && next)) return next;
  void *versioned = source->version ? dlvsym(source->library, name, source->version) : NULL;
  void *found = versioned ? versioned : dlsym(source->library, name);
  return found && is_of_this_library(found) ? NULL : found;
}

static void fill(struct libcurl *curl, const struct link_map *object) {
  const struct source source = source_of(object);
  curl->easy_init = find(&source, "curl_easy_init");
  curl->easy_setopt = find(&source, "curl_easy_setopt");
  curl->easy_getinfo = find(&source, "curl_easy_getinfo");
  curl->easy_perform = find(&source, "curl_easy_perform");
  curl->easy_reset = find(&source, "curl_easy_reset");
  curl->easy_duphandle = find(&source, "curl_easy_duphandle");
  curl->easy_cleanup = find(&source, "curl_easy_cleanup");
  curl->easy_nextheader = find(&source, "curl_easy_nextheader");
  curl->easy_strerror = find(&source, "curl_easy_strerror");
  curl->easy_pause = find(&source, "curl_easy_pause");
  curl->multi_init = find(&source, "curl_multi_init");
  curl->multi_setopt = find(&source, "curl_multi_setopt");
  curl->multi_perform = find(&source, "curl_multi_perform");
  curl->multi_socket = find(&source, "curl_multi_socket");
  curl->multi_socket_action = find(&source, "curl_multi_socket_action");
  curl->multi_socket_all = find(&source, "curl_multi_socket_all");
  curl->multi_wait = find(&source, "curl_multi_wait");
  curl->multi_poll = find(&source, "curl_multi_poll");
  curl->multi_timeout = find(&source, "curl_multi_timeout");
  curl->multi_add_handle = find(&source, "curl_multi_add_handle");
  curl->multi_remove_handle = find(&source, "curl_multi_remove_handle");
  curl->multi_info_read = find(&source, "curl_multi_info_read");
  curl->multi_cleanup = find(&source, "curl_multi_cleanup");
  curl->global_init = find(&source, "curl_global_init");
  curl->global_init_mem = find(&source, "curl_global_init_mem");
  curl->slist_append = find(&source, "curl_slist_append");
  curl->slist_free_all = find(&source, "curl_slist_free_all");
  curl->url = find(&source, "curl_url");
  curl->url_dup = find(&source, "curl_url_dup");
  curl->url_get = find(&source, "curl_url_get");
  curl->url_set = find(&source, "curl_url_set");
  curl->url_cleanup = find(&source, "curl_url_cleanup");
  curl->free = find(&source, "curl_free");
  curl->version_info = find(&source, "curl_version_info");
  curl->is_complete = curl->easy_setopt && curl->easy_getinfo && curl->easy_nextheader && curl->easy_strerror &&
                      curl->easy_cleanup && curl->version_info && curl->url && curl->url_dup && curl->url_get &&
                      curl->url_set && curl->url_cleanup && curl->free;
  curl->is_for_itself = object && is_libcurl(object->l_name);
}

static const struct libcurl *known(const struct link_map *object) {
  for (struct caller *caller = atomic_load_explicit(&callers, memory_order_acquire); caller; caller = caller->next)
    if (caller->object == object && (!object || caller->section == object->l_ld)) return &caller->curl;
  return NULL;
}

/// The caller must hold `finding`. A few entries are static, because a program that has run out of memory must still
/// reach its libcurl.
static struct caller *make_caller(void) {
  static struct caller spare[4];
  static size_t spare_count = sizeof spare / sizeof *spare;
  struct caller *caller = calloc(1, sizeof *caller);
  return caller || spare_count == 0 ? caller : &spare[--spare_count];
}

static const struct libcurl *add(const struct link_map *object) {
  // The functions of this entry are NULL, so calls fail.
  static const struct libcurl none;
  struct caller *caller = make_caller();
  if (!caller) return &none;
  caller->object = object;
  caller->section = object ? object->l_ld : NULL;
  const int kept = errno;
  fill(&caller->curl, object);
  errno = kept;
  // Clears the error: a later dlerror() of the program must not return an error of this look-up.
  dlerror();
  caller->next = atomic_load_explicit(&callers, memory_order_relaxed);
  atomic_store_explicit(&callers, caller, memory_order_release);
  return &caller->curl;
}

const struct libcurl *libcurl_of(const void *address) {
  const struct link_map *object = object_of(address);
  const struct libcurl *curl = known(object);
  if (curl) return curl;
  pthread_mutex_lock(&finding);
  curl = known(object);
  if (!curl) curl = add(object);
  pthread_mutex_unlock(&finding);
  return curl;
}

bool libcurl_lock(const struct timespec *until) {
  return pthread_mutex_clocklock(&finding, CLOCK_MONOTONIC, until) == 0;
}

void libcurl_unlock(void) { pthread_mutex_unlock(&finding); }

void libcurl_lock_anew(void) { pthread_mutex_init(&finding, NULL); }
