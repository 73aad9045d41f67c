/// Bytes with a length.
#ifndef SLUICE_TEXT_H
#define SLUICE_TEXT_H

#include <stddef.h>

/// Borrowed bytes, not ended by a NUL. `data` may be NULL if `size` is 0.
typedef struct sluice_text {
  const char *data;
  size_t size;
} sluice_text;

#endif
