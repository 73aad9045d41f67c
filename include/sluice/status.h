/// The result of a function: success, a refusal or a fault.
#ifndef SLUICE_STATUS_H
#define SLUICE_STATUS_H

#include <stdint.h>

/// Zero is success; a positive value is an ordinary refusal; a negative value is a fault, and most faults count as a
/// violation of the plugin. A plugin must treat an unknown value by its sign.
typedef int32_t sluice_status;

enum {
  SLUICE_STATUS_OK = 0,
  /// There is no such header, member, body or value.
  SLUICE_STATUS_ABSENT = 1,
  /// It was already done: the token was resumed, the call has a token, or the outcome was reported.
  SLUICE_STATUS_ALREADY = 2,
  /// The token or pointer is from a call, a transaction or a generation that is over. The call has no effect.
  SLUICE_STATUS_STALE = 3,
  /// This host does not offer the function, or does not offer it for this message.
  SLUICE_STATUS_UNSUPPORTED = 4,
  /// A limit of the host is reached; the log names the limit.
  SLUICE_STATUS_LIMIT = 5,
  /// The host is shutting down and accepts nothing new.
  SLUICE_STATUS_CLOSING = 6,

  /// An argument is malformed: CR, LF or NUL in a header, a name that is not a token, an unknown number.
  SLUICE_STATUS_INVALID = -1,
  /// Well formed, but not allowed, such as a hop-by-hop field, or a part of the exchange that this phase must not
  /// change.
  SLUICE_STATUS_REFUSED = -2,
  /// Called on a wrong thread, or outside of a call: the exchange must not be used there.
  SLUICE_STATUS_WRONG_THREAD = -3,
  /// The operation failed; the error says why.
  SLUICE_STATUS_FAILED = -4,
  SLUICE_STATUS_NO_MEMORY = -5
};

#endif
