/// The facts about a plugin that a host reads before any of its code runs: an ELF note in the section `.note.sluice`.
#ifndef SLUICE_NOTE_H
#define SLUICE_NOTE_H

#include <stdint.h>

#include <sluice/abi.h>

/// Type of the note; its owner is "sluice".
#define SLUICE_NOTE_TYPE 1u

/// The content of the note. It grows only at its end; its length is in the note's header.
typedef struct sluice_note {
  /// The ABI revisions that the plugin works with.
  uint32_t abi_min;
  uint32_t abi_max;
  /// No flags are defined yet; must be 0.
  uint32_t flags;
  /// SLUICE_FEATURE_… bits that the plugin requires.
  uint32_t host_features;
  /// Version of the plugin.
  uint32_t version_major;
  uint32_t version_minor;
  uint32_t version_patch;
} sluice_note;

/// Emits the note; once per library, at file scope:
///
///     SLUICE_PLUGIN_NOTE(SLUICE_FEATURE_SUSPEND, 1, 4, 0)
#define SLUICE_PLUGIN_NOTE(host_features_, major_, minor_, patch_)                                       \
  __attribute__((section(".note.sluice"), used, aligned(4))) static const struct {                     \
    uint32_t name_size, content_size, type;                                                             \
    char name[8];                                                                                       \
    sluice_note content;                                                                                \
  } sluice_plugin_note_ = {7,                                                                           \
                           sizeof(sluice_note),                                                         \
                           SLUICE_NOTE_TYPE,                                                            \
                           "sluice",                                                                    \
                           {SLUICE_ABI_VERSION, SLUICE_ABI_VERSION, 0, (host_features_), (major_), (minor_), (patch_)}};

#endif
