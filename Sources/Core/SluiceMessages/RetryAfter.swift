/// How long a server asks a client to wait (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// Reads the value of `Retry-After`, which is in seconds or a date; nil if it is neither.
  ///
  /// - Parameters:
  ///   - wallClock: the current time since 1970-01-01T00:00:00Z, with which a date is compared.
  ///   - limitSeconds: the longest delay that is accepted.
  package static func delay(_ text: String, wallClock: Duration, limitSeconds: Int64) -> Duration? {
    guard !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return .seconds(min(Int64(text) ?? limitSeconds, limitSeconds))
    }
    let now = HTTPDate(secondsSince1970: wallClock.components.seconds)
    guard let date = HTTPDate(text, now: now) else { return nil }
    return max(.zero, .seconds(min(date.secondsSince1970, now.secondsSince1970 + limitSeconds)) - wallClock)
  }
}
