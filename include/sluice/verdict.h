/// The answers of an interceptor.
#ifndef SLUICE_VERDICT_H
#define SLUICE_VERDICT_H

#include <stdint.h>

/// Any other value is a violation and counts as SLUICE_VERDICT_FAIL, as does SLUICE_VERDICT_SUSPENDED without a token.
/// If a call has taken a token and does not answer SLUICE_VERDICT_SUSPENDED, the token is void.
typedef int32_t sluice_verdict;

enum {
  /// Continue with the next stage.
  SLUICE_VERDICT_CONTINUE = 0,
  /// The stage has set the response (`respond`); the request is not sent, and the response stages still run.
  SLUICE_VERDICT_RESPOND = 1,
  /// Start the next attempt from the original request (`retry`); not allowed in on_issue.
  SLUICE_VERDICT_RETRY = 2,
  /// End the transaction with the error that `fail` set; without such an error the code is `stage_failed`.
  SLUICE_VERDICT_FAIL = 3,
  /// The stage has taken a token (`suspend`) and will resume it; not allowed in on_issue.
  SLUICE_VERDICT_SUSPENDED = 4
};

#endif
