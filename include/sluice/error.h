/// The buffer in which a plugin says why something failed.
#ifndef SLUICE_ERROR_H
#define SLUICE_ERROR_H

#include <stdint.h>

#include <sluice/abi.h>

/// A message buffer that the host owns; it is valid for the call that it was passed to.
typedef struct sluice_error {
  uint32_t size;
  /// Bytes that `message` can hold, the final NUL included; at least 256.
  uint32_t capacity;
  /// UTF-8, ended by a NUL; empty when the plugin wrote nothing. Say what failed, on what, why, and what to do.
  char *message;
} sluice_error;

#endif
