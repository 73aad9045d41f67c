// A note with the ABI numbers, flags, version and alignment that the build defines, and members of a newer revision at
// its end. REQUIRES names a feature of the host that it requires.
#include "../fixture.h"

#ifndef ABI_MIN
#define ABI_MIN 1
#endif
#ifndef ABI_MAX
#define ABI_MAX 1
#endif
#ifndef VERSION
#define VERSION "2.3.4"
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef ALIGNMENT
#define ALIGNMENT 4
#endif

__attribute__((section(".note.sluice"), used, aligned(ALIGNMENT))) static const struct {
  uint32_t name_size, content_size, type;
  char name[8];
#ifdef PADDED
  uint32_t padding;
#endif
  sluice_note content;
  uint32_t of_a_newer_revision[3];
} note = {.name_size = 7,
          .content_size = sizeof(sluice_note) + 12,
          .type = SLUICE_NOTE_TYPE,
          .name = "sluice",
          .content = {ABI_MIN, ABI_MAX, FLAGS, VERSION},
          .of_a_newer_revision = {7, 8, 9}};

#ifdef REQUIRES
__attribute__((section(".sluice.requires." REQUIRES), used)) static const uint8_t requirement = 1;
#endif

static const sluice_plugin plugin = {FIXTURE_TABLE, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
