import SluiceMessages

extension RetryAfter {
  /// A hundred years; the transaction's deadline usually comes earlier.
  private static let limitSeconds: Int64 = 100 * 365 * 86_400

  /// Reads the first `Retry-After`; nil if the field is absent or malformed.
  ///
  /// - Parameter wallClock: the current time since 1970-01-01T00:00:00Z.
  static func delay(_ headers: HeaderFields, wallClock: Duration) -> Duration? {
    headers["retry-after"].flatMap { delay($0, wallClock: wallClock, limitSeconds: limitSeconds) }
  }
}
