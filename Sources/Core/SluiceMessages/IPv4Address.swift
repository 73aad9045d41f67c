/// An IPv4 address as four decimal numbers (RFC 3986 §3.2.2); no other notation is read.
struct IPv4Address: Sendable, Hashable, CustomStringConvertible {
  let value: UInt32

  init(value: UInt32) { self.value = value }

  /// Nil unless the text is `d.d.d.d`, without leading zeros, which some readers take as octal.
  init?(_ text: Span<UInt8>) {
    var value: UInt32 = 0
    var index = 0
    for place in 0..<4 {
      if place > 0 {
        guard index < text.count, text[index] == UInt8(ascii: ".") else { return nil }
        index += 1
      }
      guard let number = Self.number(text, &index) else { return nil }
      value = value << 8 | number
    }
    guard index == text.count else { return nil }
    self.value = value
  }

  /// `127.0.0.0/8` (RFC 1122 §3.2.1.3).
  var isLoopback: Bool { value >> 24 == 127 }

  var description: String { "\(value >> 24).\(value >> 16 & 255).\(value >> 8 & 255).\(value & 255)" }

  private static func number(_ text: Span<UInt8>, _ index: inout Int) -> UInt32? {
    let start = index
    var number: UInt32 = 0
    while index < text.count, index < start + 3, text[index] >= 0x30, text[index] <= 0x39 {
      number = number * 10 + UInt32(text[index] - 0x30)
      index += 1
    }
    let hasLeadingZero = index > start + 1 && text[start] == 0x30
    return index > start && !hasLeadingZero && number < 256 ? number : nil
  }
}
