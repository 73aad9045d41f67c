import CacheRules
import struct SluiceMessages.HeaderFields

/// The result of the look-up before the request was sent. It is kept with the transaction until the answer.
struct Lookup: Sendable {
  enum Outcome: Sendable, Equatable {
    /// The cache has answered the request, so the response is from the cache.
    case answered
    case forwarded(CacheStatus.Forwarded)
  }

  var outcome: Outcome
  let url: String
  let request: RequestFacts
  /// The fields of the request by which responses are selected, with their values at the look-up: the next look-up will
  /// see the same values.
  let selecting: HeaderFields
  let requested: Timestamp
  var entry: Entry?
  /// Whether the cache has added its own conditions. A 304 is then an answer to the cache, and not to the caller.
  var isValidating = false
  var invalidations: UInt64 = 0
}

/// Takes the place of ``Lookup`` in the next attempt, if the cache made its conditions for one URL, but they were sent
/// to another URL. The cache does nothing in that attempt.
struct Bypass: Sendable {}
