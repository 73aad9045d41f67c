/// Numbers that outlive a generation: the host's table `sluice.values/1`.
///
/// The host keeps them for each instance name, so that a counter stays exact across a hot swap.
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
  /// Adds to a value and returns the new value in `result`, which may be NULL. A value that was never set is 0. [any]
  sluice_status (*add)(const sluice_host *host, sluice_text key, int64_t amount, int64_t *result);
  /// Reads a value; returns SLUICE_STATUS_ABSENT if it was never set. [any]
  sluice_status (*get)(const sluice_host *host, sluice_text key, int64_t *value);
  /// Sets the value to `desired` if it is equal to `*expected`. Otherwise returns SLUICE_STATUS_ABSENT and sets
  /// `*expected` to the current value. [any]
  sluice_status (*compare_exchange)(const sluice_host *host, sluice_text key, int64_t *expected, int64_t desired);
} sluice_values;
#define SLUICE_VALUES_SIZE_1 32u

#endif
