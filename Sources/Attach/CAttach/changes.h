// Gives libcurl the settings of the pipeline in place of the program's settings, and restores the program's settings.
#ifndef SLUICE_ATTACH_CHANGES_H
#define SLUICE_ATTACH_CHANGES_H
#include "CAttachABI.h"
#include "handle.h"

/// The settings that a transfer has in place of the program's settings. All members are zero if there are none.
struct changes {
  /// Nodes and text in one block of memory; NULL if there are no lines.
  struct curl_slist *lines;
  bool has_new_lines, has_new_url, has_new_method, has_new_body;
};

/// Gives libcurl the settings that the host has changed. Returns false if libcurl does not accept every change, for
/// example because memory ran out.
bool changes_apply(
    struct changes *changes, const struct handle *handle, const struct sluice_attach_answer *answer);

/// Gives libcurl the program's list of headers again.
void changes_restore_lines(struct changes *changes, const struct handle *handle);

/// Gives libcurl all of the program's settings again, and frees the settings that replaced them.
void changes_restore(struct changes *changes, const struct handle *handle);

#endif
