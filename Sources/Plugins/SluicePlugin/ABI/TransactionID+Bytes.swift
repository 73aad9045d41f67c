import CSluice
import SluiceMessages

extension TransactionID {
  /// Makes the id from its bytes in network order.
  init(network bytes: TransactionBytes) {
    self = withUnsafeBytes(of: bytes) { bytes in
      TransactionID(
        high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }

  /// The bytes of the id in network order.
  var networkBytes: TransactionBytes { unsafeBitCast((high.bigEndian, low.bigEndian), to: TransactionBytes.self) }
}

/// The C array of 16 bytes as Swift imports it.
typealias TransactionBytes = (
  UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
)
