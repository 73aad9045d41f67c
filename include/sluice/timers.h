/// Timers of an instance: the host's table `sluice.timers/1`.
#ifndef SLUICE_TIMERS_H
#define SLUICE_TIMERS_H

#include <stdint.h>

#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/text.h>

#define SLUICE_TIMERS_ID "sluice.timers/1"

/// The id of a timer, which is never reused; 0 means no timer.
typedef uint64_t sluice_timer;

typedef struct sluice_timers {
  uint32_t size;
  uint32_t reserved;
  /// Calls `function` once on a loop after a delay unless it is cancelled. Returns SLUICE_STATUS_LIMIT if the instance
  /// has too many timers, SLUICE_STATUS_CLOSING in `create` and when the host accepts nothing new. `timer` may be NULL.
  /// [any]
  sluice_status (*start)(
      const sluice_host *host, uint64_t delay_ns, void (*function)(void *context), void *context, sluice_timer *timer);
  /// Calls on_schedule with that name in each period until the timer is cancelled. The outcome is due within the
  /// timeout. If the previous call has not reported its outcome yet, the period is skipped. [any]
  sluice_status (*schedule)(
      const sluice_host *host, sluice_text name, uint64_t period_ns, uint64_t timeout_ns, sluice_timer *timer);
  /// Cancels a timer. SLUICE_STATUS_OK means that the function will not be called, SLUICE_STATUS_STALE that it was
  /// called or is being called. Before the `deactivate` of an instance, all its timers are cancelled, and their
  /// functions have returned. [any]
  sluice_status (*cancel)(const sluice_host *host, sluice_timer timer);
} sluice_timers;
#define SLUICE_TIMERS_SIZE_1 32u

#endif
