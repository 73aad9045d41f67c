import CacheRules
import struct SluiceMessages.HeaderFields

/// What was found out before the request went on, for the answer to it; kept with the transaction.
struct Lookup: Sendable {
  enum Outcome: Sendable, Equatable {
    /// The stage answered itself: what comes back is its own.
    case answered
    case forwarded(CacheStatus.Forwarded)
  }

  var outcome: Outcome
  let url: String
  let request: RequestFacts
  /// The request's fields for selecting; as they were when it was looked up, since that is what the next look-up has.
  let selecting: HeaderFields
  let requested: Timestamp
  var entry: Entry?
  /// The stage added conditions of its own, so that a 304 is an answer to it and not to the caller.
  var isValidating = false
  var invalidations: UInt64 = 0
}

/// Kept in its place for the attempt that comes after conditions went to another URL: it passes untouched.
struct Bypass: Sendable {}
