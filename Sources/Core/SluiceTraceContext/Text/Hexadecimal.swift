import SluiceMessages

/// Reads and writes numbers in lower-case hexadecimal of fixed width. Upper case is refused (W3C Trace Context §2.2.2).
///
/// Trace headers consist mostly of such digits. So, for speed, eight digits are read or written at once, as the bytes
/// of one number.
enum Hexadecimal {
  /// The number that the bytes of a range spell; nil if one of them is not a lower-case digit. At most 16 digits.
  static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
    var number: UInt64 = 0
    var index = range.lowerBound
    while index + 8 <= range.upperBound {
      guard let word = bytes.word(at: index), let digits = value(ofDigits: word) else { return nil }
      number = number << 32 | digits
      index += 8
    }
    while index < range.upperBound {
      guard let digit = value(of: bytes[index]) else { return nil }
      number = number << 4 | digit
      index += 1
    }
    return number
  }

  /// The number as 16 digits.
  static func text(_ number: UInt64) -> String {
    var digits = InlineArray<16, UInt8>(repeating: 0)
    var output = digits.mutableSpan
    write(number, to: &output, at: 0)
    return String(copying: digits.span)
  }

  /// Writes 16 digits, beginning at `start`.
  @inline(__always)
  static func write(_ number: UInt64, to output: inout MutableSpan<UInt8>, at start: Int) {
    let words = digits(of: SIMD2(number >> 32, number & 0xFFFF_FFFF))
    // This is safe, because each byte value is a valid element of the span, and `storeBytes` checks the position
    // against the span's end.
    var bytes = unsafe output.mutableBytes
    bytes.storeBytes(of: words[0].littleEndian, toByteOffset: start, as: UInt64.self)
    bytes.storeBytes(of: words[1].littleEndian, toByteOffset: start + 8, as: UInt64.self)
  }

  /// The digit for a number from 0 to 15.
  static func digit(_ value: UInt8) -> UInt8 { value &+ (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") &- 10) }

  private static func value(of digit: UInt8) -> UInt64? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit &- UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit &- UInt8(ascii: "a") &+ 10)
    default: nil
    }
  }

  /// The number that eight digits spell; nil if a byte is not a digit.
  @inline(__always)
  private static func value(ofDigits word: UInt64) -> UInt64? {
    // Bit 6 is set in letters only. The lower four bits of a letter are its value minus nine.
    let values = word & each(0x0F) &+ (word >> 6 & each(0x01)) &* 9
    guard values & each(0xF0) == 0, characters(values) == word else { return nil }
    let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
    let fours = (pairs << 8 | pairs >> 16) & 0x0000_FFFF_0000_FFFF
    return (fours << 16 | fours >> 32) & 0xFFFF_FFFF
  }

  /// Converts two numbers of 32 bits at once. The result has the eight digits of each number as bytes, with the first
  /// digit in the lowest byte.
  @inline(__always)
  private static func digits(of numbers: SIMD2<UInt64>) -> SIMD2<UInt64> {
    let fours = (numbers &<< 32 | numbers &>> 16) & 0x0000_FFFF_0000_FFFF
    let pairs = (fours &<< 16 | fours &>> 8) & 0x00FF_00FF_00FF_00FF
    let values = (pairs &<< 8 | pairs &>> 4) & each(0x0F)
    let letters = (values &+ each(0x06)) &>> 4 & each(0x01)
    let step = UInt64(UInt8(ascii: "a") - 10 - UInt8(ascii: "0"))
    return values &+ each(UInt64(UInt8(ascii: "0"))) &+ letters &* step
  }

  /// Turns each byte, which must be a number from 0 to 15, into its digit.
  @inline(__always)
  private static func characters(_ values: UInt64) -> UInt64 {
    let letters = (values &+ each(0x06)) >> 4 & each(0x01)
    return values &+ each(UInt64(UInt8(ascii: "0"))) &+ letters &* UInt64(UInt8(ascii: "a") - 10 - UInt8(ascii: "0"))
  }

  /// The same byte eight times.
  @inline(__always)
  private static func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }
}
