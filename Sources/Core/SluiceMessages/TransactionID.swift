/// A random UUID, version 4 (RFC 9562 §5.4).
public struct TransactionID: Sendable, Hashable, CustomStringConvertible {
  /// The first 16 digits of ``description``, including the version.
  package let high: UInt64
  /// The last 16 digits of ``description``; the first two bits are the variant.
  package let low: UInt64

  /// Makes an id of 128 random bits. Version and variant replace six of these bits.
  package init(randomHigh: UInt64, randomLow: UInt64) {
    high = randomHigh & ~0xF000 | 0x4000
    low = randomLow & ~(0b11 << 62) | 0b10 << 62
  }

  /// Takes the two halves of an existing id unchanged.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Makes an id from two numbers of the generator. With a better generator, the id is harder to guess and less likely
  /// to occur twice.
  package init(using generator: inout some RandomNumberGenerator) {
    self.init(randomHigh: generator.next(), randomLow: generator.next())
  }

  /// 36 characters, lower-case hexadecimal with hyphens.
  public var description: String {
    let text = text
    do { return String(copying: try UTF8Span(validating: text.span)) } catch {
      // This line is never reached, because hexadecimal digits are valid UTF-8.
      return ""
    }
  }

  /// The characters of ``description``.
  package var text: InlineArray<36, UInt8> {
    let (first, second) = (Self.digits(high >> 32), Self.digits(high))
    let (third, fourth) = (Self.digits(low >> 32), Self.digits(low))
    // Each word has eight characters of the text. A hyphen comes before each of the three groups in the middle.
    let (fifth, sixth) = (second & 0xFFFF_FFFF, third & 0xFFFF_FFFF)
    let word1: UInt64 = 0x0000_2D00_0000_002D | (fifth &<< 8) | ((second &>> 32) &<< 48)
    let word2: UInt64 = 0x2D00_0000_002D_0000 | (second &>> 48) | (sixth &<< 24)
    let word3: UInt64 = (third &>> 32) | (fourth &<< 32)
    var text = InlineArray<36, UInt8>(repeating: 0)
    var output = text.mutableSpan
    // Safe because every pattern of bits is a valid byte.
    var bytes = unsafe output.mutableBytes
    bytes.storeBytes(of: first.littleEndian, toByteOffset: 0, as: UInt64.self)
    bytes.storeBytes(of: word1.littleEndian, toByteOffset: 8, as: UInt64.self)
    bytes.storeBytes(of: word2.littleEndian, toByteOffset: 16, as: UInt64.self)
    bytes.storeBytes(of: word3.littleEndian, toByteOffset: 24, as: UInt64.self)
    bytes.storeBytes(of: UInt32(truncatingIfNeeded: fourth &>> 32).littleEndian, toByteOffset: 32, as: UInt32.self)
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
    // Has a 1 in each byte whose digit is 10 or more.
    let letters = ((word &+ ones &* 6) &>> 4) & ones
    return (word &+ ones &* 0x30 &+ letters &* 0x27).byteSwapped
  }
}
