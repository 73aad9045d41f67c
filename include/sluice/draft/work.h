/// The host's table `sluice.work/1`: runs a blocking function on a thread of the host.
///
/// A draft: the table may still change.
#ifndef SLUICE_DRAFT_WORK_H
#define SLUICE_DRAFT_WORK_H

#include <stdint.h>

#include <sluice/host.h>
#include <sluice/status.h>
#include <sluice/token.h>

#define SLUICE_WORK_ID "sluice.work/1"

typedef struct sluice_work {
  uint32_t size;
  uint32_t reserved;
  /// Runs `function` once on a thread of the host's pool, which all plugins share, and then calls `completion`. Both
  /// get `context` as their argument. The functions of an instance may run at the same time. A function may call the
  /// functions that are tagged [any]; it has no exchange.
  ///
  /// Unless `run` fails, `completion` is called exactly once. With a parent, it is called on the parent's loop, so that
  /// `enter` works in it. Otherwise it is called on the loop on which `run` was called, or on any loop if `run` was
  /// called elsewhere. If the host's loops have ended, it is called on another thread. The status that it gets is
  ///   SLUICE_STATUS_OK       the function has returned
  ///   SLUICE_STATUS_STALE    the function has not begun: the suspension of the parent was cancelled
  ///   SLUICE_STATUS_CLOSING  the function has not begun: the instance ends
  ///   SLUICE_STATUS_FAILED   the function has ended its thread
  /// If `run` was called on another thread, both functions may run before it has returned. A function that has begun is
  /// never interrupted: it may still run while `deactivate` is called. All functions and completions have returned
  /// before `destroy`; if this takes too long, the instance is never destroyed.
  ///
  /// `parent` is the suspended exchange that waits for the work; all zero means none. Returns SLUICE_STATUS_LIMIT if
  /// 256 functions of the instance wait or run, SLUICE_STATUS_STALE for a parent that is over, SLUICE_STATUS_REFUSED in
  /// `create`, SLUICE_STATUS_CLOSING from `deactivate` on, SLUICE_STATUS_INVALID without a function or completion.
  /// [any]
  sluice_status (*run)(
      const sluice_host *host, sluice_token parent, void (*function)(void *context),
      void (*completion)(void *context, sluice_status status), void *context);
} sluice_work;
#define SLUICE_WORK_SIZE_1 16u

#endif
