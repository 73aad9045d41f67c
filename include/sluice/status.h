/// What a function answers when it has nothing else to say.
#ifndef SLUICE_STATUS_H
#define SLUICE_STATUS_H

#include <stdint.h>

/// Zero is success; above zero an ordinary "no"; below zero a fault, most of them counted as a violation of the plugin.
/// A plugin takes an unknown value for what its sign says.
typedef int32_t sluice_status;

enum {
  SLUICE_OK = 0,
  /// There is no such header, member, body or value.
  SLUICE_ABSENT = 1,
  /// It was done before: a token already resumed, a completion already given.
  SLUICE_ALREADY = 2,
  /// The token or pointer is from a call, a transaction or a generation that is over. Nothing was touched.
  SLUICE_STALE = 3,
  /// This host does not offer that.
  SLUICE_UNSUPPORTED = 4,
  /// A limit of the host is reached; the message in the log says which.
  SLUICE_LIMIT = 5,
  /// The host is shutting down and takes nothing new.
  SLUICE_CLOSING = 6,

  /// An argument is malformed: CR, LF or NUL in a header, no token as a name, an unknown number.
  SLUICE_INVALID = -1,
  /// Well formed, but not the plugin's to do: hop-by-hop fields, another phase's part of the exchange.
  SLUICE_REFUSED = -2,
  /// Called on a thread, or outside of a call, where the exchange may not be touched.
  SLUICE_WRONG_THREAD = -3,
  /// The operation failed; the error says why.
  SLUICE_FAILED = -4,
  SLUICE_NO_MEMORY = -5
};

#endif
