/// The tables `sluice.stage/1` of a plugin and `sluice.places/1` of a host: a configuration for one place in a list.
///
/// A draft: the tables may still change. In a configuration file, `{"plugin": "edit", "config": {…}}` in the list
/// `request` is a place with its own configuration, in addition to the configuration of the instance.
#ifndef SLUICE_DRAFT_STAGE_H
#define SLUICE_DRAFT_STAGE_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/error.h>
#include <sluice/exchange.h>
#include <sluice/status.h>

/// The plugin's table. A plugin without it takes no configuration for a place; such a configuration is refused.
#define SLUICE_STAGE_ID "sluice.stage/1"
/// The host's table.
#define SLUICE_PLACES_ID "sluice.places/1"

typedef struct sluice_stage {
  uint32_t size;
  uint32_t reserved;
  /// JSON Schema (draft-07) that the configuration of a place is checked against before `create_stage`; NULL accepts
  /// anything. Must live as long as the library is mapped.
  const char *config_schema;
  /// Checks the configuration of a place and remembers it: no I/O, no threads. Called for each place of the instance
  /// that has a configuration, in the order request, issue, response: after `create`, and before `load` and `activate`.
  /// `config` is borrowed; take a reference or a copy to keep it. On SLUICE_STATUS_OK `*stage` must not be NULL; with
  /// any other status the plugin must have released everything that belongs to the place, and `destroy` of the instance
  /// follows. [control]
  sluice_status (*create_stage)(void *instance, json_t *config, void **stage, sluice_error *error);
  /// Releases an object that `create_stage` has made. Called once for each object, in reverse order, just before
  /// `destroy` of the instance. [control]
  void (*destroy_stage)(void *instance, void *stage);
} sluice_stage;
#define SLUICE_STAGE_SIZE_1 32u

typedef struct sluice_places {
  uint32_t size;
  uint32_t reserved;
  /// Returns the object that `create_stage` has made for the current place. In a call of the stage, this is the place
  /// at which it is called; inside `enter`, the place at which the call is suspended. Returns NULL for a place without
  /// a configuration, and in on_event. on_redirect and on_challenge are called once for an instance, at its first place
  /// in the list. [loop]
  void *(*current)(sluice_exchange *exchange);
} sluice_places;
#define SLUICE_PLACES_SIZE_1 16u

#endif
