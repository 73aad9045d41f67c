extension HTTPURL {
  /// Parses a text that equals this URL in all parts before the path, so that scheme, user, host and port are not read
  /// again. Returns nil for any other text, valid or not: ``init(_:hosts:)`` then reads the text or reports the mistake
  /// in it.
  package func sibling(_ bytes: Span<UInt8>) -> HTTPURL? {
    let start = pathRange.lowerBound
    guard bytes.count > start, bytes.count <= Self.maximumBytes, bytes[start] == UInt8(ascii: "/") else { return nil }
    guard Self.begins(bytes, with: string.utf8.span, count: start) else { return nil }
    let pathEnd = Self.printableEnd(in: bytes, from: start, before: UInt8(ascii: "?"))
    var queryRange: Range<Int>?
    if pathEnd < bytes.count {
      // A text with a fragment is rare, so it is left to ``init(_:hosts:)``.
      guard bytes[pathEnd] == UInt8(ascii: "?") else { return nil }
      let hash = UInt8(ascii: "#")
      guard Self.printableEnd(in: bytes, from: pathEnd + 1, before: hash) == bytes.count else { return nil }
      queryRange = pathEnd + 1..<bytes.count
    }
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    return HTTPURL(
      string: String(copying: text), origin: origin, userInfo: userInfo, pathRange: start..<pathEnd,
      queryRange: queryRange)
  }

  private static func begins(_ bytes: Span<UInt8>, with other: Span<UInt8>, count: Int) -> Bool {
    var index = 0
    while index &+ 8 <= count, let ours = bytes.word(at: index), let theirs = other.word(at: index) {
      guard ours == theirs else { return false }
      index &+= 8
    }
    while index < count {
      guard bytes[index] == other[index] else { return false }
      index &+= 1
    }
    return true
  }

  /// The first byte that begins a fragment, is not allowed in a URL in ASCII, or is `end`.
  private static func printableEnd(in bytes: Span<UInt8>, from start: Int, before end: UInt8) -> Int {
    let hash = UInt8(ascii: "#")
    let backslash = UInt8(ascii: "\\")
    var index = start
    while let word = bytes.word(at: index), word.isPrintable(without: end, hash, backslash) { index &+= 8 }
    return firstIndex(in: bytes, from: index) { byte in
      byte <= 0x20 || byte >= 0x7F || byte == end || byte == hash || byte == backslash
    }
  }
}
