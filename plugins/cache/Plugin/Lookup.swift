import CacheRules
import struct SluiceMessages.HeaderFields

/// The result of the look-up before the request was sent. It is kept with the transaction until the answer.
struct Lookup: Sendable {
  enum Outcome: Sendable, Equatable {
    /// The cache has answered, so the response is its own.
    case answered
    case forwarded(CacheStatus.Forwarded)
  }

  var outcome: Outcome
  let url: String
  let request: RequestFacts
  /// The request's fields for selection, with their values at the look-up, because the next look-up sees the same
  /// values.
  let selecting: HeaderFields
  let requested: Timestamp
  var entry: Entry?
  /// The cache has added its own conditions, so a 304 answers the cache and not the caller.
  var isValidating = false
  var invalidations: UInt64 = 0
}

/// Replaces ``Lookup`` in the attempt after conditions went to another URL: the cache does not touch that attempt.
struct Bypass: Sendable {}
