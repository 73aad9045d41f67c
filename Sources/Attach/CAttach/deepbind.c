// Modules that are opened with RTLD_DEEPBIND, as PHP's are, look for libcurl's functions in their own libraries first.
// So they would never call the functions of this library. Therefore this file changes the relocations of such a module:
// its calls of libcurl's functions then reach this library.
//
// Any other call is forwarded by a jump, because glibc uses the return address to determine whose search path applies.
// So a module that the loader must search for is changed later, when the program looks up a function in it.
#define _GNU_SOURCE
#include "glibc.h"
#include "interposed.h"
#include "mapped_object.h"
#include "session.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { SLOT = R_X86_64_JUMP_SLOT, ADDRESS = R_X86_64_GLOB_DAT, POINTER = R_X86_64_64 };
#elif defined(__aarch64__)
enum { SLOT = R_AARCH64_JUMP_SLOT, ADDRESS = R_AARCH64_GLOB_DAT, POINTER = R_AARCH64_ABS64 };
#else
#error "the relocation types of this machine are not known; add them above"
#endif

/// Writes a relocated pointer, which can be in memory that the loader has made read-only after binding (RELRO).
static void write_address(void **place, void *address) {
  const uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *page = (void *)((uintptr_t)place & ~(size - 1));
  // The pointer is aligned, so it never crosses a page. The page stays writable, because its former protection is
  // unknown.
  if (mprotect(page, size, PROT_READ | PROT_WRITE) == 0) *place = address;
}

void *interposed_loader_function(const char *name) {
  if (!name || name[0] != 'd' || name[1] != 'l') return NULL;
  if (is_same_name(name, "dlsym")) return (void *)dlsym;
  if (is_same_name(name, "dlvsym")) return (void *)dlvsym;
  if (is_same_name(name, "dlmopen")) return (void *)dlmopen;
  return is_same_name(name, "dlopen") ? (void *)dlopen : NULL;
}

/// The function of this library that a module must call in place of another one, or NULL.
static void *own_function(const char *name) {
  if (strncmp(name, "curl_", 5) == 0) return interposed_function(name);
  // A module that looks libcurl's functions up itself, as PHP's FFI does.
  return interposed_loader_function(name);
}

static void bind_again(const struct link_map *module, const ElfW(Rela) *entries, size_t bytes) {
  const ElfW(Sym) *symbols = object_table(module, DT_SYMTAB);
  const char *strings = object_table(module, DT_STRTAB);
  if (!symbols || !strings) return;
  for (size_t index = 0; entries && index < bytes / sizeof *entries; index++) {
    const unsigned kind = (unsigned)ELF64_R_TYPE(entries[index].r_info);
    if ((kind != SLOT && kind != ADDRESS && kind != POINTER) || entries[index].r_addend != 0) continue;
    const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(entries[index].r_info)];
    void *own = symbol->st_shndx == SHN_UNDEF ? own_function(strings + symbol->st_name) : NULL;
    if (own) write_address((void **)(module->l_addr + entries[index].r_offset), own);
  }
}

/// The modules that were loaded last come last in the list.
static void bind_from(const struct link_map *module) {
  for (; module; module = module->l_next) {
    // A libcurl keeps its own calls of itself.
    if (object_is_libcurl(module)) continue;
    bind_again(module, object_table(module, DT_JMPREL), object_value(module, DT_PLTRELSZ));
    bind_again(module, object_table(module, DT_RELA), object_value(module, DT_RELASZ));
  }
}

/// Called by dl_iterate_phdr, which holds a lock of the loader: no other thread can close a library during this call.
static int bind_under_lock(struct dl_phdr_info *info, size_t size, void *module) {
  (void)info, (void)size;
  bind_from(module);
  return 1;
}

// MARK: Modules that the loader searches for

/// Whether the program has opened such a module with RTLD_DEEPBIND.
static _Atomic(bool) has_searched;

/// The module that was changed last, and how many modules had been loaded until then.
static struct {
  const void *module;
  unsigned long long loads;
} last;

/// Called by dl_iterate_phdr, whose lock also protects `last`.
static int bind_once(struct dl_phdr_info *info, size_t size, void *handle) {
  (void)size;
  if (last.module == handle && last.loads == info->dlpi_adds) return 1;
  last.module = handle;
  last.loads = info->dlpi_adds;
  // A handle of the program itself, of a library that was loaded before this one, or of another namespace is not found.
  const struct link_map *module = object_of((void *)&bind_once);
  while (module && module != handle) module = module->l_next;
  bind_from(module);
  return 1;
}

void interposed_bind(void *module) {
  if (!atomic_load_explicit(&has_searched, memory_order_relaxed)) return;
  const int kept = errno;
  dl_iterate_phdr(bind_once, module);
  errno = kept;
}

// MARK: Opening

typedef void *(*open_function)(const char *, int);
typedef void *(*open_in_function)(Lmid_t, const char *, int);

static open_function next(void) {
  static _Atomic(void *) known;
  return (open_function)glibc_next_function(&known, "dlopen");
}

static open_in_function next_in(void) {
  static _Atomic(void *) known;
  return (open_in_function)glibc_next_function(&known, "dlmopen");
}

/// Whether a module must be changed.
static bool is_deep(const char *file, int flags) { return session_is_on && flags & RTLD_DEEPBIND && file; }

/// Whether the name of a module is a path. Then the search path of the caller does not matter. Otherwise it is noted
/// that the loader searches for the module.
static bool is_path(const char *file) {
  if (strchr(file, '/')) return true;
  atomic_store_explicit(&has_searched, true, memory_order_relaxed);
  return false;
}

static void *open_deeply(const char *file, int flags) {
  void *module = next()(file, flags);
  const int kept = errno;
  if (module) dl_iterate_phdr(bind_under_lock, module);
  errno = kept;
  return module;
}

__attribute__((visibility("default"))) void *dlopen(const char *file, int flags) {
  if (is_deep(file, flags) && is_path(file)) return open_deeply(file, flags);
  __attribute__((musttail)) return next()(file, flags);
}

__attribute__((visibility("default"))) void *dlmopen(Lmid_t namespace, const char *file, int flags) {
  if (namespace == LM_ID_BASE && is_deep(file, flags) && is_path(file)) return open_deeply(file, flags);
  __attribute__((musttail)) return next_in()(namespace, file, flags);
}
