// Asks the dynamic loader about the libraries that it has mapped. In C because these functions need _GNU_SOURCE, which
// changes some of glibc's types: a Swift module that saw both forms would not compile.
#ifndef SLUICE_MAPPED_LIBRARY_H
#define SLUICE_MAPPED_LIBRARY_H
#include <stddef.h>
#include <stdint.h>

typedef struct sluice_mapped_library {
  /// The load address: the number that the loader added to the library's own addresses.
  uintptr_t load_address;
  /// Its GNU build id in memory; NULL if it has none.
  const unsigned char *build_id;
  size_t build_id_size;
} sluice_mapped_library;

/// Finds the library that has a segment with the address. Returns 0 if no library has one. From any thread.
int sluice_mapped_library_at(const void *address, sluice_mapped_library *library);

/// Stores the load address of a handle from `dlopen`. Returns 0 if the loader does not report it. From any thread.
int sluice_handle_load_address(void *handle, uintptr_t *address);

/// Stores the address of the dynamic section of the library of a handle from `dlopen`. Returns 0 if the loader does not
/// report it. From any thread.
int sluice_handle_dynamic_section(void *handle, const void **section);

/// Runs the destructors of the library that is mapped at the address, as the loader does at the end of a process. The
/// process must end right afterwards.
void sluice_run_destructors_at(const void *address);

/// Asks the kernel to take back the pages of the library that is mapped at the address (MADV_PAGEOUT): it drops the
/// pages that are equal to the file, and moves the others to the swap space if there is one. Writes the file to the disk
/// first, if that has not happened yet, and waits for it. Has no effect before Linux 5.4. From any thread.
void sluice_page_out_library_at(const void *address);

#endif
