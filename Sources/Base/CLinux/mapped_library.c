#define _GNU_SOURCE
#include "mapped_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct search {
  uintptr_t address;
  sluice_mapped_library *library;
};

static size_t padded(size_t size) { return (size + 3) & ~(size_t)3; }

// Reads only within the segment. In code that was built with the address sanitizer, each variable in a section of notes
// is followed by a gap that the sanitizer forbids to read. The loop over the notes must read these gaps, so the
// sanitizer does not check this function.
__attribute__((no_sanitize_address)) static void read_notes(const unsigned char *notes, size_t size, sluice_mapped_library *library) {
  while (size >= sizeof(ElfW(Nhdr))) {
    const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)notes;
    const size_t name = padded(header->n_namesz), content = padded(header->n_descsz);
    if (name > size - sizeof *header || content > size - sizeof *header - name) return;
    const unsigned char *text = notes + sizeof *header;
    if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 && memcmp(text, "GNU", 4) == 0) {
      library->build_id = text + name;
      library->build_id_size = header->n_descsz;
      return;
    }
    notes = text + name + content;
    size -= sizeof *header + name + content;
  }
}

static int examine(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  int holds = 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
    if (segment->p_type == PT_LOAD && search->address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) holds = 1;
  }
  if (!holds) return 0;
  search->library->load_address = info->dlpi_addr;
  for (int index = 0; index < info->dlpi_phnum && !search->library->build_id; index++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
    if (segment->p_type != PT_NOTE) continue;
    read_notes((const unsigned char *)info->dlpi_addr + segment->p_vaddr, segment->p_memsz, search->library);
  }
  return 1;
}

int sluice_mapped_library_at(const void *address, sluice_mapped_library *library) {
  struct search search = {(uintptr_t)address, library};
  memset(library, 0, sizeof *library);
  return dl_iterate_phdr(examine, &search);
}

int sluice_handle_load_address(void *handle, uintptr_t *address) {
  struct link_map *map = NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == NULL) return 0;
  *address = map->l_addr;
  return 1;
}

int sluice_handle_dynamic_section(void *handle, const void **section) {
  struct link_map *map = NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == NULL) return 0;
  *section = map->l_ld;
  return 1;
}

struct dynamic_search {
  uintptr_t address;
  uintptr_t base;
  const ElfW(Dyn) *dynamic;
};

static int find_dynamic(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct dynamic_search *search = context;
  const ElfW(Dyn) *dynamic = NULL;
  int holds = 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
    if (segment->p_type == PT_LOAD && search->address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz) holds = 1;
    if (segment->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + segment->p_vaddr);
  }
  if (!holds) return 0;
  search->base = info->dlpi_addr;
  search->dynamic = dynamic;
  return 1;
}

void sluice_run_destructors_at(const void *address) {
  struct dynamic_search search = {.address = (uintptr_t)address};
  if (!dl_iterate_phdr(find_dynamic, &search) || !search.dynamic) return;
  void (*const *array)(void) = NULL;
  void (*last)(void) = NULL;
  size_t count = 0;
  for (const ElfW(Dyn) *entry = search.dynamic; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_FINI_ARRAY) array = (void (*const *)(void))(search.base + entry->d_un.d_ptr);
    if (entry->d_tag == DT_FINI_ARRAYSZ) count = entry->d_un.d_val / sizeof *array;
    if (entry->d_tag == DT_FINI) last = (void (*)(void))(search.base + entry->d_un.d_ptr);
  }
  // The order of the calls is that of the loader (_dl_fini).
  for (; array && count > 0; count--) array[count - 1]();
  if (last) last();
}

struct range_search {
  uintptr_t address;
  uintptr_t start;
  uintptr_t end;
  char path[PATH_MAX];
};

static int find_range(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct range_search *search = context;
  uintptr_t start = UINTPTR_MAX, end = 0;
  int holds = 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[index];
    if (segment->p_type != PT_LOAD) continue;
    const uintptr_t first = info->dlpi_addr + segment->p_vaddr, last = first + segment->p_memsz;
    if (search->address >= first && search->address < last) holds = 1;
    if (first < start) start = first;
    if (last > end) end = last;
  }
  if (!holds) return 0;
  search->start = start;
  search->end = end;
  const size_t length = info->dlpi_name ? strlen(info->dlpi_name) : 0;
  if (length > 0 && length < sizeof search->path) memcpy(search->path, info->dlpi_name, length + 1);
  return 1;
}

void sluice_page_out_library_at(const void *address) {
  struct range_search search = {.address = (uintptr_t)address};
  if (!dl_iterate_phdr(find_range, &search)) return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t start = search.start & ~(page - 1), end = (search.end + page - 1) & ~(page - 1);
  // The kernel does not take pages of a file that are not written to the disk yet.
  const int file = open(search.path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    close(file);
  }
  // A failure only means that the pages stay where they are.
  madvise((void *)start, end - start, MADV_PAGEOUT);
}
