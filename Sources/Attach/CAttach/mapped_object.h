// What the dynamic sections of loaded programs and libraries say.
//
// Nothing here calls functions of libc: sanitizers replace these functions, and call dlsym before the replacements
// work.
#ifndef SLUICE_ATTACH_MAPPED_OBJECT_H
#define SLUICE_ATTACH_MAPPED_OBJECT_H
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The program or library that has the address in one of its segments; NULL if none has it.
const struct link_map *object_of(const void *address);

/// The value of an entry of an object's dynamic section, such as DT_PLTRELSZ; 0 if it has none.
size_t object_value(const struct link_map *object, ElfW(Sxword) tag);

/// The table to which an entry of an object's dynamic section refers, such as DT_STRTAB; NULL if it has none.
const void *object_table(const struct link_map *object, ElfW(Sxword) tag);

/// The name that an object gives itself; NULL if it gives none.
const char *object_soname(const struct link_map *object);

/// Where an object defines a symbol, in the version that a program gets which is linked with it now; NULL if the object
/// does not export it.
void *object_symbol(const struct link_map *object, const char *name);

/// Whether two texts are equal.
static inline bool is_same_name(const char *one, const char *other) {
  while (*one && *one == *other) one++, other++;
  return *one == *other;
}

/// The name of the libcurl among the libraries that an object needs directly; NULL if it needs none.
const char *object_needed_libcurl(const struct link_map *object);

/// Whether an object is a libcurl, by its own name or by that of its file.
bool object_is_libcurl(const struct link_map *object);

/// Whether a path names a libcurl, of any build, including the names that Python packages give it. Returns false for
/// libcurlpp.
bool is_libcurl(const char *path);

#endif
