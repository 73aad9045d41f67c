import struct SluiceMessages.HTTPURL

/// What a stored response is found by: the URL without user and fragment, its origin spelled one way (RFC 9110 §4.2.3).
enum CacheKey {
  static func of(_ url: HTTPURL) -> String {
    "\(url.origin)\(url.path)\(url.query.map { "?\($0)" } ?? "")"
  }

  /// What a `Location` or `Content-Location` names, where that is of the same origin as the URL it came for: only there a
  /// response may say what has changed (RFC 9111 §4.4).
  static func of(_ reference: String, from base: HTTPURL) -> String? {
    guard let target = resolve(reference, base), target.origin == base.origin else { return nil }
    return of(target)
  }

  /// A URL, a path, or one beside the base (RFC 3986 §5.2, without dot segments, which nobody stores).
  private static func resolve(_ reference: String, _ base: HTTPURL) -> HTTPURL? {
    if let url = try? HTTPURL(reference) { return url }
    guard !reference.hasPrefix("//") else { return try? HTTPURL("\(base.origin.scheme):\(reference)") }
    if reference.hasPrefix("/") { return try? HTTPURL("\(base.origin)\(reference)") }
    if reference.isEmpty { return base }
    if reference.hasPrefix("?") { return try? HTTPURL("\(base.origin)\(base.path)\(reference)") }
    let folder = base.path[...(base.path.lastIndex(of: "/") ?? base.path.startIndex)]
    return try? HTTPURL("\(base.origin)\(folder)\(reference)")
  }
}
