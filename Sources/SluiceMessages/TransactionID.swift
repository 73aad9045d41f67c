/// A random UUID, version 4 (RFC 9562 §5.4).
public struct TransactionID: Sendable, Hashable, CustomStringConvertible {
  /// The first 16 digits of ``description``, including the version.
  package let high: UInt64
  /// The last 16 digits of ``description``; the first two bits are the variant.
  package let low: UInt64

  /// Makes an id of 128 random bits, of which six are overwritten by version and variant.
  package init(randomHigh: UInt64, randomLow: UInt64) {
    high = randomHigh & ~0xF000 | 0x4000
    low = randomLow & ~(0b11 << 62) | 0b10 << 62
  }

  /// Takes the two halves of an existing id unchanged.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Takes two numbers from the generator; the id is as hard to guess, and as unique, as these are random.
  package init(using generator: inout some RandomNumberGenerator) {
    self.init(randomHigh: generator.next(), randomLow: generator.next())
  }

  /// 36 characters, lower-case hexadecimal with hyphens.
  public var description: String {
    let text = text
    do { return String(copying: try UTF8Span(validating: text.span)) } catch {
      // Never used: hexadecimal digits are valid UTF-8.
      return ""
    }
  }

  /// The characters of ``description``.
  package var text: InlineArray<36, UInt8> {
    var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
    var output = text.mutableSpan
    let (first, second) = (Self.digits(high >> 32), Self.digits(high))
    let (third, fourth) = (Self.digits(low >> 32), Self.digits(low))
    for place in 0..<8 {
      // A hyphen comes before the digits of each of the groups in the middle.
      let shift = UInt64(place &* 8)
      output[place] = UInt8(truncatingIfNeeded: first &>> shift)
      output[place + (place < 4 ? 9 : 10)] = UInt8(truncatingIfNeeded: second &>> shift)
      output[place + (place < 4 ? 19 : 20)] = UInt8(truncatingIfNeeded: third &>> shift)
      output[place + 28] = UInt8(truncatingIfNeeded: fourth &>> shift)
    }
    return text
  }

  /// The hexadecimal digits of the lower 32 bits, one in each byte, the first digit in the lowest byte.
  @inline(__always)
  private static func digits(_ number: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    // Spreads the half-bytes over the eight bytes.
    var word = number & 0xFFFF_FFFF
    word = (word | word &<< 16) & 0x0000_FFFF_0000_FFFF
    word = (word | word &<< 8) & 0x00FF_00FF_00FF_00FF
    word = (word | word &<< 4) & 0x0F0F_0F0F_0F0F_0F0F
    // 1 in each byte of a digit from 10 on.
    let letters = ((word &+ ones &* 6) &>> 4) & ones
    return (word &+ ones &* 0x30 &+ letters &* 0x27).byteSwapped
  }
}
