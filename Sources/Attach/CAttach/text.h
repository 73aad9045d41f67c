#ifndef SLUICE_ATTACH_TEXT_H
#define SLUICE_ATTACH_TEXT_H
#include "CAttachABI.h"

#include <string.h>

/// Borrows a string; NULL is an empty text.
static inline struct sluice_attach_text text(const char *bytes) {
  return (struct sluice_attach_text){bytes, bytes ? strlen(bytes) : 0};
}

#endif
