#define _GNU_SOURCE
#include "mapped_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>

const struct link_map *object_of(const void *address) {
  struct dl_find_object found;
  return _dl_find_object((void *)(uintptr_t)address, &found) == 0 ? found.dlfo_link_map : NULL;
}

static const void *pointer_of(const struct link_map *object, ElfW(Addr) value) {
  // glibc has relocated the entries of ordinary libraries, but not those of the vDSO.
  return (const void *)(value < object->l_addr ? object->l_addr + value : value);
}

size_t object_value(const struct link_map *object, ElfW(Sxword) tag) {
  for (const ElfW(Dyn) *entry = object->l_ld; entry && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == tag) return entry->d_un.d_val;
  return 0;
}

const void *object_table(const struct link_map *object, ElfW(Sxword) tag) {
  const size_t value = object_value(object, tag);
  return value ? pointer_of(object, value) : NULL;
}

const char *object_soname(const struct link_map *object) {
  const char *strings = object_table(object, DT_STRTAB);
  const size_t name = object_value(object, DT_SONAME);
  return strings && name ? strings + name : NULL;
}

/// The hash function of DT_GNU_HASH.
static uint32_t hash_of(const char *name) {
  uint32_t hash = 5381;
  for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

void *object_symbol(const struct link_map *object, const char *name) {
  const ElfW(Sym) *symbols = object_table(object, DT_SYMTAB);
  const char *strings = object_table(object, DT_STRTAB);
  const ElfW(Half) *versions = object_table(object, DT_VERSYM);
  // The number of buckets, the first symbol in the table, the number of words in its filter, and a shift; the filter;
  // the buckets; the chains.
  const uint32_t *table = object_table(object, DT_GNU_HASH);
  if (!table || !symbols || !strings || table[0] == 0) return NULL;
  const uint32_t bucket_count = table[0], first = table[1];
  const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(table + 4) + table[2]);
  const uint32_t *chains = buckets + bucket_count;
  const uint32_t hash = hash_of(name);
  for (uint32_t index = buckets[hash % bucket_count]; index >= first; index++) {
    // The highest bit marks a version that is kept for old programs only.
    const bool is_old = versions && versions[index] & 0x8000;
    if ((chains[index - first] | 1) == (hash | 1) && symbols[index].st_shndx != SHN_UNDEF && !is_old &&
        is_same_name(strings + symbols[index].st_name, name))
      return (void *)(object->l_addr + symbols[index].st_value);
    // The lowest bit marks the end of a chain.
    if (chains[index - first] & 1) break;
  }
  return NULL;
}

bool is_libcurl(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  return strncmp(name, "libcurl.", 8) == 0 || strncmp(name, "libcurl-", 8) == 0;
}

const char *object_needed_libcurl(const struct link_map *object) {
  const char *strings = object_table(object, DT_STRTAB);
  for (const ElfW(Dyn) *entry = strings ? object->l_ld : NULL; entry && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_NEEDED && is_libcurl(strings + entry->d_un.d_val)) return strings + entry->d_un.d_val;
  return NULL;
}

bool object_is_libcurl(const struct link_map *object) {
  const char *soname = object_soname(object);
  if (!is_libcurl(object->l_name) && !(soname && is_libcurl(soname))) return false;
  // A module of a program can have such a name too. It needs a libcurl, which a libcurl does not.
  return !object_needed_libcurl(object);
}
