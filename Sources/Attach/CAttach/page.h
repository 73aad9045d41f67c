#ifndef SLUICE_ATTACH_PAGE_H
#define SLUICE_ATTACH_PAGE_H
#include "CAttachABI.h"

/// Maps the page of a command for the rest of the process; NULL if it is missing or belongs to another user.
///
/// @param descriptor that of the page, which is used if the folder cannot be seen or written, as in a sandbox; -1 if the
/// program has none
struct sluice_attach_page *page_map(const char *folder, int descriptor);

void page_unmap(struct sluice_attach_page *page);

/// Opens a file in a command's folder. Returns a descriptor. Returns -1 if it is not a regular file of this user, or if
/// another user may write to it.
int page_open_file(const char *folder, const char *name, int flags, size_t *length);

#endif
