#include "program_arguments.h"

#include <stddef.h>

static int count;
static char **words;

/// glibc passes the arguments of `main` to constructors too.
__attribute__((constructor)) static void keep(int argc, char **argv) {
  count = argc;
  words = argv;
}

const char *sluice_program_argument(int index) { return index >= 0 && index < count ? words[index] : NULL; }
