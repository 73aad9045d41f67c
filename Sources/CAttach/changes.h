// What libcurl gets from the pipeline in place of the program's settings, and how it gets those again.
#ifndef SLUICE_ATTACH_CHANGES_H
#define SLUICE_ATTACH_CHANGES_H
#include "CAttachABI.h"
#include "handle.h"

/// What differs for a transfer. All zero for nothing.
struct changes {
  /// Nodes and text in one block; NULL for no lines.
  struct curl_slist *lines;
  bool has_new_lines, has_new_url, has_new_method, has_new_body;
};

/// Gives libcurl what the host has changed; false if it does not take all of it, for example because memory ran out.
bool changes_apply(
    struct changes *changes, const struct handle *handle, const struct sluice_attach_answer *answer);

/// Gives libcurl the program's list of headers again.
void changes_restore_lines(struct changes *changes, const struct handle *handle);

/// Gives libcurl all of the program's settings again, and frees what was in their place.
void changes_restore(struct changes *changes, const struct handle *handle);

#endif
