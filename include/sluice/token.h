/// The right to resume a suspended call, once.
#ifndef SLUICE_TOKEN_H
#define SLUICE_TOKEN_H

#include <stdint.h>

/// A token is not a pointer: you may copy it and keep it as long as you like. The host never dereferences it, so a
/// stale or forged token does no harm.
typedef struct sluice_token {
  uint32_t slot;
  uint32_t generation;
  uint64_t nonce;
} sluice_token;

/// The number of an event loop of the host, for `post`.
typedef uint32_t sluice_loop;

#endif
