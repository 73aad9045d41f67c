import SluiceMessages

extension TransactionID {
  typealias Bytes = (
    UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
  )

  /// The UUID in network byte order.
  var bytes: Bytes { unsafeBitCast((high.bigEndian, low.bigEndian), to: Bytes.self) }
}
