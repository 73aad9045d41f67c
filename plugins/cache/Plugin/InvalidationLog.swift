/// Which URLs were invalidated lately, so that an answer which was under way meanwhile is not stored after it: it may say
/// what was true before the change. For one thread at a time.
struct InvalidationLog {
  private static let capacity = 4096

  /// Counts every invalidation.
  private(set) var number: UInt64 = 0
  /// URLs that are no longer listed are assumed to be invalidated up to this number.
  private var forgottenUpTo: UInt64 = 0
  private var numbers: [String: UInt64] = [:]

  mutating func add(_ url: String) {
    number += 1
    numbers[url] = number
    guard numbers.count > Self.capacity else { return }
    numbers.removeAll(keepingCapacity: true)
    forgottenUpTo = number
  }

  /// Whether the URL may have been invalidated after that many.
  func isInvalidated(_ url: String, since earlier: UInt64) -> Bool {
    (numbers[url] ?? forgottenUpTo) > earlier
  }
}
