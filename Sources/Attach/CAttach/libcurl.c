// Finds the functions of libcurl that a caller would have reached without this library: those of another preloaded
// library if it comes next in the loader's order, otherwise those of the libcurl that the caller's library needs.
//
// RTLD_NEXT alone is not enough. It does not find the libcurl of a library that was opened with RTLD_LOCAL, such as a
// module of Python, and it finds the first libcurl of a process for every caller.
//
// Nothing is locked here: a caller may hold the lock of the loader, for example in the constructor of a library that
// is being opened, and a look-up takes that lock.
#define _GNU_SOURCE
#include "libcurl.h"

#include "glibc.h"
#include "looked_up_owners.h"
#include "mapped_object.h"
#include "session.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// A library or program that has called a function of this library. Entries are never removed.
struct caller {
  struct caller *next;
  const struct link_map *object;
  /// The digest of what the functions depend on. When a library was closed, another one can get the same link map and
  /// the same addresses.
  uint64_t digest;
  struct libcurl curl;
};

static _Atomic(struct caller *) callers;

// MARK: The libcurl of a caller

/// The symbol version that the caller needs of a library; NULL if it needs none.
static const char *wanted_version(const struct link_map *object, const char *strings, const char *library) {
  const ElfW(Verneed) *need = object_table(object, DT_VERNEED);
  const size_t count = object_value(object, DT_VERNEEDNUM);
  for (size_t index = 0; need && index < count; index++) {
    if (strcmp(strings + need->vn_file, library) == 0 && need->vn_cnt > 0) {
      const ElfW(Vernaux) *version = (const void *)((const char *)need + need->vn_aux);
      return strings + version->vna_name;
    }
    if (need->vn_next == 0) break;
    need = (const void *)((const char *)need + need->vn_next);
  }
  return NULL;
}

/// What a library or program needs of a libcurl. The names are NULL if it names no libcurl or no version.
struct need {
  const char *library, *version;
};

static struct need need_of(const struct link_map *object) {
  const char *name = object ? object_needed_libcurl(object) : NULL;
  return (struct need){name, name ? wanted_version(object, object_table(object, DT_STRTAB), name) : NULL};
}

/// Continues a digest (FNV-1a) with a name and its end.
static uint64_t add_name(uint64_t digest, const char *name) {
  for (; name && *name; name++) digest = (digest ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
  return (digest ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t digest_of(const struct link_map *object) {
  // The program itself has no name, and is never closed.
  if (!object || !object->l_name[0]) return 0;
  const struct need need = need_of(object);
  const uint64_t digest = add_name(UINT64_C(0xcbf29ce484222325), object->l_name);
  return add_name(add_name(digest, need.library), need.version);
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
  const struct need need = need_of(object);
  void *library = need.library ? dlopen(need.library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (library) return (struct source){library, need.version, false};
  // The caller is a libcurl that calls itself through its own exported functions.
  if (object && object_is_libcurl(object))
    return (struct source){dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD), NULL, false};
  // The caller does not need libcurl itself, but a library that it needs may do so.
  if (object && object->l_name[0]) return (struct source){dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD), NULL, true};
  return (struct source){NULL, NULL, false};
}

static bool is_of_this_library(const void *function) { return object_of(function) == object_of((void *)&libcurl_of); }

static void *find(const void *context, const char *name) {
  const struct source *source = context;
  void *next = glibc_dlsym(RTLD_NEXT, name);
  const struct link_map *owner = next ? object_of(next) : NULL;
  // The function of another preloaded library comes first, as it would without this library.
  if (owner && !object_is_libcurl(owner)) return next;
  if (!source->library || (source->is_indirect && next)) return next;
  void *versioned = source->version ? glibc_dlvsym(source->library, name, source->version) : NULL;
  void *found = versioned ? versioned : glibc_dlsym(source->library, name);
  return found && is_of_this_library(found) ? NULL : found;
}

static const struct libcurl *known(const struct link_map *object, uint64_t digest) {
  for (struct caller *caller = atomic_load_explicit(&callers, memory_order_acquire); caller; caller = caller->next)
    if (caller->object == object && caller->digest == digest) return &caller->curl;
  return NULL;
}

/// A few entries are static, because a program that has run out of memory must still reach its libcurl.
static struct caller *make_caller(void) {
  static struct caller spare[4];
  static _Atomic(size_t) spares_used;
  struct caller *caller = calloc(1, sizeof *caller);
  if (caller || atomic_load(&spares_used) >= sizeof spare / sizeof *spare) return caller;
  const size_t index = atomic_fetch_add(&spares_used, 1);
  return index < sizeof spare / sizeof *spare ? &spare[index] : NULL;
}

/// If two threads add the same caller, the second entry does no harm: it has the same functions.
static const struct libcurl *add(const struct link_map *object, uint64_t digest) {
  // The functions of this entry are NULL, so calls fail.
  static const struct libcurl none;
  struct caller *caller = make_caller();
  if (!caller) return &none;
  caller->object = object;
  caller->digest = digest;
  const int kept = errno;
  const struct source source = source_of(object);
  libcurl_fill(&caller->curl, find, &source);
  caller->curl.is_for_itself = object && object_is_libcurl(object);
  errno = kept;
  // Clears the error: a later dlerror() of the program must not return an error of this look-up.
  dlerror();
  caller->next = atomic_load_explicit(&callers, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(
      &callers, &caller->next, caller, memory_order_release, memory_order_relaxed))
    continue;
  return &caller->curl;
}

const struct libcurl *libcurl_of(const void *address) {
  const struct libcurl *curl = looked_up_at(address);
  if (curl) return curl;
  const struct link_map *object = object_of(address);
  const uint64_t digest = digest_of(object);
  curl = known(object, digest);
  if (curl) return curl;
  session_begin();
  return add(object, digest);
}
