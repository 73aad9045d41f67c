/// The state that one generation passes to the next in a hot swap: the table `sluice.state/1`.
#ifndef SLUICE_STATE_H
#define SLUICE_STATE_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/error.h>
#include <sluice/status.h>

#define SLUICE_STATE_ID "sluice.state/1"

enum {
  /// The swap continues without the state if `load` refuses it.
  SLUICE_STATE_OPTIONAL = 1
};

typedef struct sluice_state {
  uint32_t size;
  uint32_t flags;
  /// The version of the format that `save` writes; `load` gets it as `from_version`.
  uint32_t version;
  uint32_t reserved;
  /// Returns a new reference to the state as a document, which the host releases. Returns NULL with a message if the
  /// state cannot be provided. The document nests at most 2048 levels. The instance continues to work during this call
  /// and after it. [control]
  json_t *(*save)(void *instance, sluice_error *error);
  /// Takes over a borrowed state, after `create` and before `activate`. [control]
  sluice_status (*load)(void *instance, json_t *state, uint32_t from_version, sluice_error *error);
} sluice_state;
#define SLUICE_STATE_SIZE_1 32u

#endif
