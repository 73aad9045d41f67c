extension Span where Element == UInt8 {
  /// Eight bytes from `index` on, the first of them in the lowest bits; nil if fewer are left.
  @inlinable @inline(__always)
  package func word(at index: Int) -> UInt64? {
    guard index >= 0, index <= count - 8 else { return nil }
    // Safe because the eight bytes lie within the span.
    return UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
  }
}

extension UInt64 {
  /// The position, from the lowest on, of the first of eight bytes that is less than `limit`; nil if there is none.
  /// `limit` is at most 128.
  @inlinable @inline(__always)
  package func firstByte(below limit: UInt8) -> Int? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let found = (self &- ones &* UInt64(limit)) & ~self & (ones &* 0x80)
    return found == 0 ? nil : found.trailingZeroBitCount / 8
  }
}
