/// Numbers of 64 bits in decimal.
enum Decimal {
  /// The number that the bytes spell; nil if there are no bytes, a byte is not a digit, or the number is too large.
  static func number(_ bytes: Span<UInt8>) -> UInt64? {
    guard (1...20).contains(bytes.count) else { return nil }
    var number: UInt64 = 0
    for index in bytes.indices {
      let digit = bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      let (shifted, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflows) = shifted.addingReportingOverflow(UInt64(digit))
      guard !isTooLarge, !overflows else { return nil }
      number = sum
    }
    return number
  }
}
