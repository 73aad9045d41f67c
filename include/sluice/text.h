/// Texts and bytes with a length.
#ifndef SLUICE_TEXT_H
#define SLUICE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/// A borrowed text, not ended by a NUL. `data` may be NULL if `size` is 0.
typedef struct sluice_text {
  const char *data;
  size_t size;
} sluice_text;

/// A borrowed field of a message.
typedef struct sluice_field {
  sluice_text name;
  sluice_text value;
} sluice_field;

/// The borrowed bytes of a body. `data` may be NULL if `size` is 0.
typedef struct sluice_bytes {
  const uint8_t *data;
  size_t size;
} sluice_bytes;

#endif
