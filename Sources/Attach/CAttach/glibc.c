#define _GNU_SOURCE
#include "glibc.h"

#include "mapped_object.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

/// glibc itself: it is among the objects of the start, which are never closed.
static const struct link_map *glibc(void) {
  const struct link_map *object = object_of((const void *)&glibc_dlsym);
  while (object && object->l_prev) object = object->l_prev;
  for (; object; object = object->l_next) {
    const char *soname = object_soname(object);
    if (soname && is_same_name(soname, "libc.so.6")) return object;
  }
  return NULL;
}

/// Looks a function up in glibc's own table. Every other way to look it up calls a function that others may define.
static void *find(_Atomic(void *) *known, const char *name) {
  void *function = atomic_load_explicit(known, memory_order_relaxed);
  if (function) return function;
  const struct link_map *object = glibc();
  function = object ? object_symbol(object, name) : NULL;
  atomic_store_explicit(known, function, memory_order_relaxed);
  return function;
}

static void *find_nothing(void *handle, const char *name) {
  (void)handle, (void)name;
  return NULL;
}

static void *find_no_version(void *handle, const char *name, const char *version) {
  (void)handle, (void)name, (void)version;
  return NULL;
}

bool glibc_comes_next(const void *function, const char *name) {
  const struct link_map *object = glibc();
  return function && object && object_symbol(object, name) == function && glibc_dlsym(RTLD_NEXT, name) == function;
}

void *glibc_next_function(_Atomic(void *) *known, const char *name) {
  void *function = atomic_load_explicit(known, memory_order_relaxed);
  if (function) return function;
  function = glibc_dlsym(RTLD_NEXT, name);
  atomic_store_explicit(known, function, memory_order_relaxed);
  return function;
}

symbol_function glibc_symbol_function(void) {
  static _Atomic(void *) known;
  const symbol_function function = (symbol_function)find(&known, "dlsym");
  return function ? function : find_nothing;
}

version_function glibc_version_function(void) {
  static _Atomic(void *) known;
  const version_function function = (version_function)find(&known, "dlvsym");
  return function ? function : find_no_version;
}

// These must not be left by a jump: glibc takes the return address for the caller.
__attribute__((disable_tail_calls)) void *glibc_dlsym(void *handle, const char *name) {
  return glibc_symbol_function()(handle, name);
}

__attribute__((disable_tail_calls)) void *glibc_dlvsym(void *handle, const char *name, const char *version) {
  return glibc_version_function()(handle, name, version);
}
