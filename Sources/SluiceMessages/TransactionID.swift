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
    Self.write(high >> 32, to: &output, 0..<8)
    Self.write(high >> 16, to: &output, 9..<13)
    Self.write(high, to: &output, 14..<18)
    Self.write(low >> 48, to: &output, 19..<23)
    Self.write(low, to: &output, 24..<36)
    return text
  }

  /// Writes the last digits of a number, as many as the places hold.
  @inline(__always)
  private static func write(_ number: UInt64, to output: inout MutableSpan<UInt8>, _ places: Range<Int>) {
    var rest = number
    var place = places.upperBound
    while place > places.lowerBound {
      place -= 1
      let digit = UInt8(truncatingIfNeeded: rest) & 15
      output[place] = digit &+ (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") &- 10)
      rest >>= 4
    }
  }
}
