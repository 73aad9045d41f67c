import SluiceMessages

/// The `Content-Range` of a response with a part of a representation (RFC 9110 §14.4). Does no I/O.
struct ContentRange: Equatable, Sendable {
  /// The first and the last byte, counted from 0.
  let bytes: ClosedRange<Int>
  /// The size of the whole representation; nil if the server does not know it.
  let total: Int?

  /// Nil for anything but a valid range of bytes: another unit, no range, or a range that exceeds the total size.
  init?(_ value: String) {
    guard value.utf8.count <= 100, value.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
      return nil
    }
    bytes = first...last
    if parts[1] == "*" {
      total = nil
    } else {
      guard let number = Self.number(parts[1]), last < number else { return nil }
      total = number
    }
  }

  /// Reads only digits, because `Int` would also accept a sign.
  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }
}
