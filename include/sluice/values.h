/// Numbers that outlive a generation: the host's table `sluice.values/1`.
///
/// Kept by the host per instance name, so that a counter stays exact over a hot swap.
#ifndef SLUICE_VALUES_H
#define SLUICE_VALUES_H

#include <stdint.h>

#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_VALUES_ID "sluice.values/1"

typedef struct sluice_values {
  uint32_t size;
  uint32_t reserved;
  /// Adds and gives what it is afterwards; a value that was never set is 0. `result` may be NULL. [any]
  sluice_status (*add)(const sluice_host *host, sluice_text key, int64_t amount, int64_t *result);
  /// SLUICE_ABSENT when it was never set. [any]
  sluice_status (*get)(const sluice_host *host, sluice_text key, int64_t *value);
  /// Sets `desired` where the value is `*expected`; else SLUICE_ABSENT, and `*expected` is what it is. [any]
  sluice_status (*compare_exchange)(const sluice_host *host, sluice_text key, int64_t *expected, int64_t desired);
} sluice_values;

#endif
