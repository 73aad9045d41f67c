import SluiceMessages

/// How long a server asks a client to wait (RFC 9110 §10.2.3).
enum RetryAfter {
  /// The longest that is believed; the transaction's deadline is nearer in all likelihood.
  private static let limitSeconds: Int64 = 100 * 365 * 86_400

  /// From the first `Retry-After`, in seconds or as a date; nil without one, or if it is neither.
  ///
  /// - Parameter wallClock: the current time since 1970-01-01T00:00:00Z, with which a date is compared.
  static func delay(_ headers: HeaderFields, wallClock: Duration) -> Duration? {
    guard let text = headers["retry-after"], !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return .seconds(min(Int64(text) ?? limitSeconds, limitSeconds))
    }
    let now = HTTPDate(secondsSince1970: wallClock.components.seconds)
    guard let date = HTTPDate(text, now: now) else { return nil }
    return max(.zero, .seconds(min(date.secondsSince1970, now.secondsSince1970 + limitSeconds)) - wallClock)
  }
}
