/// Relative references (RFC 3986 §5.2): the URLs of requests that name no host, and the targets of redirects.
package enum RelativeReference {
  /// Converts a text into a URL. A text with a scheme is read as a URL; any other text is resolved against the base.
  /// The text may be an IRI; see ``HTTPURL/init(_:hosts:)``.
  package static func resolve(
    _ text: String, against base: HTTPURL?, hosts: HostEncoder? = nil
  ) throws(MessageError) -> HTTPURL {
    // The text is ASCII from here on, so each character is one byte.
    let text = try IRIReference.uri(text, hosts)
    guard let base, !hasScheme(text) else { return try HTTPURL(text) }
    try checkFirstSegment(text)
    return try HTTPURL(target(of: text, from: base))
  }

  package static func hasScheme(_ text: String) -> Bool {
    let name = text.utf8.prefix { $0 != UInt8(ascii: ":") }
    return name.count < text.utf8.count && isScheme(name)
  }

  /// Whether the text is a scheme (RFC 3986 §3.1).
  static func isScheme(_ name: Substring.UTF8View) -> Bool {
    guard let first = name.first, isLetter(first) else { return false }
    return name.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
  }

  /// RFC 3986 §4.2: the first segment of a relative reference has no colon, so that no reader takes it as a scheme.
  private static func checkFirstSegment(_ text: String) throws(MessageError) {
    let segment = text.utf8.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard segment.contains(UInt8(ascii: ":")) else { return }
    throw HTTPURL.failure(
      text.utf8.span,
      "the part before its first colon is not a scheme; expected http://… or https://…, or ./ before a relative path")
  }

  private static func target(of reference: String, from base: HTTPURL) -> String {
    let scheme = base.origin.scheme.rawValue
    if reference.hasPrefix("//") { return "\(scheme):\(reference)" }
    let root = prefix(base)
    if reference.isEmpty { return root + base.path + (base.query.map { "?\($0)" } ?? "") }
    if reference.hasPrefix("?") || reference.hasPrefix("#") {
      let query = reference.hasPrefix("#") ? base.query.map { "?\($0)" } ?? "" : ""
      return root + base.path + query + reference
    }
    let end = reference.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? reference.endIndex
    let path = reference[..<end]
    let merged = path.hasPrefix("/") ? String(path) : folder(base.path) + path
    return root + removingDotSegments(merged) + reference[end...]
  }

  /// The part of the URL before its path, unchanged.
  private static func prefix(_ base: HTTPURL) -> String {
    let text = base.string
    let afterScheme = text.utf8.index(text.startIndex, offsetBy: base.origin.scheme.rawValue.utf8.count + 3)
    let end = text.utf8[afterScheme...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? text.endIndex
    return String(text[..<end])
  }

  private static func folder(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? "/"
  }

  /// Removes the dot segments of a path that begins with a slash (RFC 3986 §5.2.4).
  package static func removingDotSegments(_ path: String) -> String {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    var kept: [Substring] = []
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        _ = kept.popLast()
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
