/// Messages from outside and scheduled work: the table `sluice.notifications/1`.
#ifndef SLUICE_NOTIFICATIONS_H
#define SLUICE_NOTIFICATIONS_H

#include <stdint.h>

#include <jansson.h>
#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_NOTIFICATIONS_ID "sluice.notifications/1"
/// The host's table `sluice.completions/1`, with which a plugin reports outcomes.
#define SLUICE_COMPLETIONS_ID "sluice.completions/1"

/// The right to report an outcome, once. Like a token, it can be copied and kept.
typedef struct sluice_completion {
  uint32_t slot;
  uint32_t generation;
  uint64_t nonce;
} sluice_completion;

typedef uint32_t sluice_work_outcome;
enum { SLUICE_WORK_NEW_DATA = 1, SLUICE_WORK_NO_DATA = 2, SLUICE_WORK_FAILED = 3 };

typedef struct sluice_notifications {
  uint32_t size;
  uint32_t reserved;
  /// Returns SLUICE_STATUS_OK to take the notification; the plugin must then report the outcome with `completion`.
  /// Returns SLUICE_STATUS_ABSENT to pass the notification to the next plugin. `payload` is borrowed. [control]
  sluice_status (*on_notification)(
      void *instance, sluice_text topic, json_t *payload, sluice_completion completion);
  /// Called when the work of that name is due (see sluice.timers/1); the plugin must report the outcome with
  /// `completion` before the deadline. [control]
  void (*on_schedule)(void *instance, sluice_text name, sluice_completion completion);
} sluice_notifications;
#define SLUICE_NOTIFICATIONS_SIZE_1 24u

typedef struct sluice_completions {
  uint32_t size;
  uint32_t reserved;
  /// Reports the outcome. Returns SLUICE_STATUS_ALREADY for a second report, SLUICE_STATUS_STALE for a late or forged
  /// one. [any]
  sluice_status (*complete)(const sluice_host *host, sluice_completion completion, sluice_work_outcome outcome);
} sluice_completions;
#define SLUICE_COMPLETIONS_SIZE_1 16u

#endif
