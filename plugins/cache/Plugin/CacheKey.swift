import struct SluiceMessages.HTTPURL

/// The key of a stored response: its URL without user info and fragment, with a normalized origin (RFC 9110 §4.2.3).
enum CacheKey {
  static func of(_ url: HTTPURL) -> String {
    "\(url.origin)\(url.path)\(url.query.map { "?\($0)" } ?? "")"
  }

  /// The key of the URL in a `Location` or `Content-Location`. Nil for another origin than that of the request, because
  /// a response may only invalidate URLs of its own origin (RFC 9111 §4.4).
  static func of(_ reference: [UInt8], from base: HTTPURL) -> String? {
    guard let target = try? base.redirectTarget(reference.span), target.origin == base.origin else { return nil }
    return of(target)
  }
}
