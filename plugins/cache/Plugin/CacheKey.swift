import struct SluiceMessages.HTTPURL

/// What a stored response is found by: the URL without user and fragment, its origin spelled one way (RFC 9110 §4.2.3).
enum CacheKey {
  static func of(_ url: HTTPURL) -> String {
    "\(url.origin)\(url.path)\(url.query.map { "?\($0)" } ?? "")"
  }

  /// What a `Location` or `Content-Location` names, where that is of the same origin as the URL it came for: only there a
  /// response may say what has changed (RFC 9111 §4.4).
  static func of(_ reference: [UInt8], from base: HTTPURL) -> String? {
    guard let target = try? base.redirectTarget(reference.span), target.origin == base.origin else { return nil }
    return of(target)
  }
}
