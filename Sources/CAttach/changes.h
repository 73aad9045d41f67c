// What libcurl gets from the pipeline in place of the program's settings, and how the program's settings are restored.
#ifndef SLUICE_ATTACH_CHANGES_H
#define SLUICE_ATTACH_CHANGES_H
#include "CAttachABI.h"
#include "handle.h"

/// The settings that differ for a transfer. All zero if none does.
struct changes {
  /// Nodes and text in one block; NULL for no lines.
  struct curl_slist *lines;
  bool has_new_lines, has_new_url, has_new_method, has_new_body;
};

/// Gives libcurl what the host has changed; false if libcurl does not accept every change, for example because memory
/// ran out.
bool changes_apply(
    struct changes *changes, const struct handle *handle, const struct sluice_attach_answer *answer);

/// Gives libcurl the program's list of headers again.
void changes_restore_lines(struct changes *changes, const struct handle *handle);

/// Gives libcurl all of the program's settings again, and frees what was in their place.
void changes_restore(struct changes *changes, const struct handle *handle);

#endif
