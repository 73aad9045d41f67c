/// The ways in which servers read one path, for code that compares paths.
///
/// All servers agree on a path without escapes, empty segments, dot segments and parameters. For other paths RFC 3986
/// defines one reading, but many servers read them differently. Attackers use this to get past rules for paths.
package struct PathReadings: Sendable, Hashable {
  /// The reading of RFC 3986: escapes of unreserved characters decoded (§6.2.2.2), other escapes in upper case
  /// (§6.2.2.1), and dot segments removed (§5.2.4).
  package let standard: String
  /// The reading of servers that also read `%2F` and `%5C` as a slash and several slashes as one, and ignore the rest
  /// of a segment after a `;`. Nil if this reading is the same as ``standard``.
  package let lenient: String?
  /// Whether ``lenient`` had dot segments to remove, so that the two readings can lead to different folders.
  package let hasDotSegments: Bool

  package init(_ path: Span<UInt8>) {
    let text = PercentCoding.normalized(path)
    standard = RelativeReference.removingDotSegments(String(decoding: text, as: UTF8.self))
    let separated = String(decoding: Self.separated(text), as: UTF8.self)
    let lenient = RelativeReference.removingDotSegments(separated)
    self.lenient = lenient == standard ? nil : lenient
    hasDotSegments = lenient != separated
  }

  /// Whether all servers read the path in the same way, exactly as it is spelled.
  package static func isPlain(_ path: Span<UInt8>) -> Bool {
    var index = 0
    while index < path.count {
      switch path[index] {
      case UInt8(ascii: "%"), UInt8(ascii: ";"): return false
      case UInt8(ascii: "/") where isEmptyOrDots(path, segment: index + 1): return false
      default: index += 1
      }
    }
    return true
  }

  /// Whether the segment at this position is a dot segment, or is empty and not the last one.
  private static func isEmptyOrDots(_ path: Span<UInt8>, segment start: Int) -> Bool {
    var end = start
    while end < path.count, end < start + 2, path[end] == UInt8(ascii: ".") { end += 1 }
    guard end < path.count else { return end > start }
    return path[end] == UInt8(ascii: "/")
  }

  /// The path with one slash at each place where a lenient server ends a segment, and without parameters.
  private static func separated(_ text: [UInt8]) -> [UInt8] {
    var separated: [UInt8] = []
    var isParameter = false
    var index = 0
    while index < text.count {
      if isSlash(text, at: index) {
        if separated.last != UInt8(ascii: "/") { separated.append(UInt8(ascii: "/")) }
        isParameter = false
        index += text[index] == UInt8(ascii: "%") ? 3 : 1
        continue
      }
      isParameter = isParameter || text[index] == UInt8(ascii: ";")
      if !isParameter { separated.append(text[index]) }
      index += 1
    }
    return separated
  }

  private static func isSlash(_ text: [UInt8], at index: Int) -> Bool {
    if text[index] == UInt8(ascii: "/") { return true }
    let escape = text[index...].prefix(3)
    return escape.elementsEqual("%2F".utf8) || escape.elementsEqual("%5C".utf8)
  }
}

extension HTTPURL {
  /// Lends the bytes of the path, or `/` if the URL has none, without making a string.
  package func withPath<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    let text = pathRange.isEmpty ? "/" : string
    let range = pathRange.isEmpty ? 0..<1 : pathRange
    return body(text.utf8.span.extracting(range))
  }
}
