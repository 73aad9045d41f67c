/// What an interceptor answers.
#ifndef SLUICE_VERDICT_H
#define SLUICE_VERDICT_H

#include <stdint.h>

/// Anything but these values is a violation and counts as SLUICE_FAIL; so does SLUICE_SUSPENDED without a token. A
/// token that was taken by a call which answers something else is void.
typedef int32_t sluice_verdict;

enum {
  /// Go on with the next stage.
  SLUICE_CONTINUE = 0,
  /// The stage has set the response (`respond`); the wire is skipped, response stages still run.
  SLUICE_RESPOND = 1,
  /// Start the next attempt from the original request (`retry`); not allowed in on_issue.
  SLUICE_RETRY = 2,
  /// End the transaction with the error that `fail` set; without one its code is `stage_failed`.
  SLUICE_FAIL = 3,
  /// The stage has taken a token (`suspend`) and will resume it; not allowed in on_issue.
  SLUICE_SUSPENDED = 4
};

#endif
