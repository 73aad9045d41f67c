/// The host's table `sluice.shared/1`: named bytes that all instances of a plugin share.
///
/// A draft: the table may still change.
#ifndef SLUICE_DRAFT_SHARED_H
#define SLUICE_DRAFT_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_SHARED_ID "sluice.shared/1"

/// The limits of a host: bytes of a name, bytes of a value, values of a plugin, bytes of all names and values of a
/// plugin.
#define SLUICE_SHARED_NAME_BYTES 256u
#define SLUICE_SHARED_VALUE_BYTES 1048576u
#define SLUICE_SHARED_COUNT 4096u
#define SLUICE_SHARED_TOTAL_BYTES 16777216u

/// The values belong to the id of the plugin: all its instances in one engine share them, whatever their names,
/// configurations and generations. Other plugins do not see them. They live as long as the engine. A plugin that must
/// keep the values of two configurations apart puts what distinguishes the configurations into the name.
///
/// A name is 1 to 256 arbitrary bytes. Each change of a value gives it a version, which is greater than all versions
/// that the engine has given before; 0 is the version of a value that does not exist. A value expires when the time
/// `timeout_ns` has passed since it was set, as measured by `clock_ns`; from then on it does not exist. If `timeout_ns`
/// is UINT64_MAX, the value never expires.
typedef struct sluice_shared {
  uint32_t size;
  uint32_t reserved;
  /// Copies a value into `buffer`, which has room for `capacity` bytes. `size` becomes the size of the value, `version`
  /// its version; each may be NULL. If the value is larger than `capacity`, returns SLUICE_STATUS_LIMIT and copies
  /// nothing. If the value does not exist, returns SLUICE_STATUS_ABSENT; `size` and `version` then become 0. [any]
  sluice_status (*get)(
      const sluice_host *host, sluice_text name, void *buffer, size_t capacity, size_t *size, uint64_t *version);
  /// Sets a value, whatever it was before. `version` becomes its version and may be NULL. Returns SLUICE_STATUS_INVALID
  /// for a bad name, a value that is too large, and a timeout of 0; SLUICE_STATUS_LIMIT if the plugin has too many
  /// values or bytes. [any]
  sluice_status (*put)(
      const sluice_host *host, sluice_text name, sluice_bytes value, uint64_t timeout_ns, uint64_t *version);
  /// Sets a value only if its version is still `*version`, or if the value does not exist and `*version` is 0.
  /// Otherwise returns SLUICE_STATUS_ABSENT and does not change the value. In both cases `*version` becomes the version
  /// that the value has after the call. Fails like `put`. [any]
  sluice_status (*compare_exchange)(
      const sluice_host *host, sluice_text name, uint64_t *version, sluice_bytes value, uint64_t timeout_ns);
  /// Removes a value if `version` is 0 or the version of the value. Returns SLUICE_STATUS_ABSENT if there is no such
  /// value. [any]
  sluice_status (*remove)(const sluice_host *host, sluice_text name, uint64_t version);
} sluice_shared;
#define SLUICE_SHARED_SIZE_1 40u

#endif
