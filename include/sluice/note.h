/// The facts about a plugin that a host reads before any of its code runs: an ELF note in the section `.note.sluice`,
/// and one section for each host feature that the plugin requires.
#ifndef SLUICE_NOTE_H
#define SLUICE_NOTE_H

#include <stdint.h>

#include <sluice/abi.h>

/// Type of the note; its owner is "sluice".
#define SLUICE_NOTE_TYPE 1u

/// The bytes of the version in the note, the final NUL included.
#define SLUICE_NOTE_VERSION_BYTES 32

/// The content of the note. It grows only at its end; its length is in the note's header.
typedef struct sluice_note {
  /// The ABI revisions that the plugin works with.
  uint32_t abi_min;
  uint32_t abi_max;
  /// No flags are defined yet; must be 0. A host refuses a library with a flag that it does not know.
  uint32_t flags;
  /// Semantic version of the plugin, padded with NUL. If it is empty, the host takes the version of the plugin's table,
  /// once the library is loaded.
  char version[SLUICE_NOTE_VERSION_BYTES];
} sluice_note;

/// Emits the note; once per library, at file scope. SLUICE_PLUGIN contains it: only a plugin that defines its entry
/// point itself needs this macro. The version is a string literal with at most 31 characters.
///
///     SLUICE_PLUGIN_NOTE("1.4.0");
#define SLUICE_PLUGIN_NOTE(version_)                                                                     \
  __attribute__((section(".note.sluice"), used, aligned(4))) static const struct {                     \
    uint32_t name_size, content_size, type;                                                             \
    char name[8];                                                                                       \
    sluice_note content;                                                                                \
  } sluice_plugin_note_ = {7,                                                                           \
                           sizeof(sluice_note),                                                         \
                           SLUICE_NOTE_TYPE,                                                            \
                           "sluice",                                                                    \
                           {SLUICE_ABI_VERSION, SLUICE_ABI_VERSION, 0, "" version_}};                   \
  SLUICE_ASSERT_(sizeof("" version_) <= SLUICE_NOTE_VERSION_BYTES, "the version has more than 31 characters")

/// Names a feature of the host without which the plugin is useless; at file scope, one line for each feature. A host
/// without that feature refuses the library before any of its code runs. The names are those of the SLUICE_FEATURE_…
/// constants of host.h, in lower case. If the plugin can work without a feature, check for that feature at run time
/// instead.
///
///     SLUICE_REQUIRES(request_body);
#define SLUICE_REQUIRES(feature_)                                                                         \
  __attribute__((section(".sluice.requires." #feature_), used SLUICE_RETAIN_)) static const uint8_t     \
      sluice_requires_##feature_##_ = 1

/// Keeps the section when the linker is called with --gc-sections, although nothing refers to it.
#if defined(__has_attribute)
#if __has_attribute(retain)
#define SLUICE_RETAIN_ , retain
#endif
#endif
#ifndef SLUICE_RETAIN_
#define SLUICE_RETAIN_
#endif

#endif
