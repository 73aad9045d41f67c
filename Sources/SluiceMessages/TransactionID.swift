/// A random UUID, version 4 (RFC 9562 §5.4).
public struct TransactionID: Sendable, Hashable, CustomStringConvertible {
  public let high: UInt64
  public let low: UInt64

  /// Makes an id of 128 random bits, of which six are overwritten by version and variant.
  public init(randomHigh: UInt64, randomLow: UInt64) {
    high = randomHigh & ~0xF000 | 0x4000
    low = randomLow & ~(0b11 << 62) | 0b10 << 62
  }

  public init(using generator: inout some RandomNumberGenerator) {
    self.init(randomHigh: generator.next(), randomLow: generator.next())
  }

  /// 36 characters, lower-case hexadecimal with hyphens.
  public var description: String {
    var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
    var place = 0
    for position in 0..<32 {
      if position == 8 || position == 12 || position == 16 || position == 20 { place += 1 }
      let word = position < 16 ? high : low
      let digit = UInt8(truncatingIfNeeded: word >> (60 - 4 * UInt64(position & 15)) & 15)
      text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      place += 1
    }
    do { return String(copying: try UTF8Span(validating: text.span)) } catch {
      // Not reached: hexadecimal digits are valid UTF-8.
      return ""
    }
  }
}
