// Programs that look libcurl's functions up get those of this library. Every other call is forwarded by a jump: glibc
// takes the return address for the caller, whose place in the order of the libraries RTLD_NEXT and RTLD_DEFAULT depend
// on.
#define _GNU_SOURCE
#include "glibc.h"
#include "interposed.h"
#include "libcurl.h"
#include "looked_up.h"
#include "mapped_object.h"

#include <dlfcn.h>
#include <stdatomic.h>

/// Another preloaded library can have a dlsym of its own, which comes next.
static symbol_function next_symbol(void) {
  static _Atomic(void *) known;
  const symbol_function function = (symbol_function)glibc_next_function(&known, "dlsym");
  return function ? function : glibc_symbol_function();
}

static version_function next_version(void) {
  static _Atomic(void *) known;
  const version_function function = (version_function)glibc_next_function(&known, "dlvsym");
  return function ? function : glibc_version_function();
}

/// The function of this library for one of a libcurl; the same function if it is not of a libcurl.
static void *replace(void *function, const char *name) {
  const struct link_map *owner = object_of(function);
  void *own = owner && object_is_libcurl(owner) ? looked_up_function(owner, name) : NULL;
  return own ? own : function;
}

/// The answer if the look-up would find the function of this library: that of the libcurl behind it. If there is none,
/// the program must not get the function, and dlerror() says so.
static void *behind(const char *name) {
  void *function = glibc_dlsym(RTLD_NEXT, name);
  return function ? replace(function, name) : NULL;
}

/// A program that asks glibc itself for dlsym and the like gets those of this library, as if it called them by name.
static void *replace_loader_function(void *function, const char *name) {
  return glibc_comes_next(function, name) ? interposed_loader_function(name) : function;
}

/// Looks a function up in one library and those that it needs.
static void *look_up_in(void *library, const char *name, const char *version, void *own) {
  void *found = version ? next_version()(library, name, version) : next_symbol()(library, name);
  if (!found) return NULL;
  return found == own ? behind(name) : replace(found, name);
}

/// Looks a function up in the libraries around the caller.
///
/// @return false if glibc must answer
static bool look_up_around(
    const void *caller, void *which, const char *name, const char *version, void *own, void **answer) {
  const struct link_map *object = object_of(caller);
  // The caller defines this function itself, and asks for the one that comes after its own.
  if (!object || object_symbol(object, name)) return false;
  if (version) {
    // A look-up by version does not find the functions of this library, which have none.
    void *found = glibc_dlvsym(RTLD_NEXT, name, version);
    *answer = found ? replace(found, name) : NULL;
    return found != NULL;
  }
  if (which == RTLD_DEFAULT && glibc_dlsym(RTLD_DEFAULT, name) != own) return false;
  *answer = libcurl_function(libcurl_of(caller), name) ? own : behind(name);
  return true;
}

/// @return false if the next function must answer
static bool look_up(const void *caller, void *library, const char *name, const char *version, void **answer) {
  void *own = interposed_function(name);
  if (!own) return false;
  if (library == RTLD_DEFAULT || library == RTLD_NEXT)
    return look_up_around(caller, library, name, version, own, answer);
  *answer = look_up_in(library, name, version, own);
  return true;
}

static bool is_of_libcurl(const char *name) {
  return name && name[0] == 'c' && name[1] == 'u' && name[2] == 'r' && name[3] == 'l' && name[4] == '_';
}

static bool is_library(const void *library) { return library != RTLD_DEFAULT && library != RTLD_NEXT; }

__attribute__((visibility("default"))) void *dlsym(void *library, const char *name) {
  void *answer = NULL;
  if (is_library(library)) interposed_bind(library);
  if (is_library(library) && interposed_loader_function(name))
    return replace_loader_function(next_symbol()(library, name), name);
  if (is_of_libcurl(name) && look_up(__builtin_return_address(0), library, name, NULL, &answer)) return answer;
  __attribute__((musttail)) return next_symbol()(library, name);
}

/// Whether the caller comes before this library and asks for the dlsym or the like that comes after its own, as other
/// preloaded libraries do.
static bool wants_next(const void *caller) {
  const struct link_map *object = object_of(caller);
  for (const struct link_map *own = object_of((void *)&wants_next); own; own = own->l_prev)
    if (own->l_prev && own->l_prev == object) return true;
  return false;
}

__attribute__((visibility("default"))) void *dlvsym(void *library, const char *name, const char *version) {
  void *answer = NULL;
  const void *caller = __builtin_return_address(0);
  if (is_library(library)) interposed_bind(library);
  if (is_of_libcurl(name) && look_up(caller, library, name, version, &answer)) return answer;
  // A look-up by version does not find the functions of this library, which have none.
  void *own = interposed_loader_function(name);
  if (own && library == RTLD_NEXT && wants_next(caller)) return own;
  if (own && library == RTLD_DEFAULT && glibc_comes_next(glibc_dlvsym(library, name, version), name)) return own;
  if (own && is_library(library)) return replace_loader_function(next_version()(library, name, version), name);
  __attribute__((musttail)) return next_version()(library, name, version);
}
