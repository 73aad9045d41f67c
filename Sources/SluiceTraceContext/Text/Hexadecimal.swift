/// Numbers in lower-case hexadecimal of fixed width, without strings: upper case is refused (W3C Trace Context §2.2.2).
enum Hexadecimal {
  /// The number that the bytes of a range spell; nil where one of them is no lower-case digit. At most 16 digits.
  static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
    var number: UInt64 = 0
    for index in range {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte &- UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte &- UInt8(ascii: "a") &+ 10)
      default: return nil
      }
    }
    return number
  }

  /// 16 digits.
  static func text(_ number: UInt64) -> String {
    var digits = InlineArray<16, UInt8>(repeating: 0)
    var output = digits.mutableSpan
    write(number, digits: 16, to: &output, at: 0)
    return String(copying: digits.span)
  }

  /// Writes the last `digits` digits of a number, beginning at `start`.
  @inline(__always)
  static func write(_ number: UInt64, digits: Int, to output: inout MutableSpan<UInt8>, at start: Int) {
    var rest = number
    var index = start + digits
    while index > start {
      index -= 1
      let digit = UInt8(truncatingIfNeeded: rest) & 15
      output[index] = digit &+ (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") &- 10)
      rest >>= 4
    }
  }
}
