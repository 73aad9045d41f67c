/// The URLs that were invalidated recently. An answer to a request that was in flight at the invalidation must not be
/// stored, because the answer can be older than the change. Only one thread at a time may use the log.
struct InvalidationLog {
  private static let capacity = 4096

  /// The number of invalidations so far.
  private(set) var number: UInt64 = 0
  /// The number of the last invalidation when the list was last emptied. Every URL that is not in the list counts as
  /// invalidated at that time.
  private var forgottenUpTo: UInt64 = 0
  private var numbers: [String: UInt64] = [:]

  mutating func add(_ url: String) {
    number += 1
    numbers[url] = number
    guard numbers.count > Self.capacity else { return }
    numbers.removeAll(keepingCapacity: true)
    forgottenUpTo = number
  }

  /// Whether the URL may have been invalidated after the invalidation with this number.
  func isInvalidated(_ url: String, since earlier: UInt64) -> Bool {
    (numbers[url] ?? forgottenUpTo) > earlier
  }
}
