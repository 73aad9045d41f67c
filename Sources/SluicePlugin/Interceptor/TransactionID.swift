/// The UUID of a transaction.
public struct TransactionID: Sendable, Hashable, CustomStringConvertible {
  public let high: UInt64
  public let low: UInt64

  /// From the bytes in network order.
  init(network bytes: TransactionBytes) {
    (high, low) = withUnsafeBytes(of: bytes) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// 36 characters, lower-case hexadecimal with hyphens.
  public var description: String {
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for position in 0..<32 {
      if position == 8 || position == 12 || position == 16 || position == 20 { text.append(UInt8(ascii: "-")) }
      let word = position < 16 ? high : low
      let digit = UInt8(truncatingIfNeeded: word >> (60 - 4 * UInt64(position & 15))) & 15
      text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The C array of 16 bytes as Swift imports it.
typealias TransactionBytes = (
  UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
)
