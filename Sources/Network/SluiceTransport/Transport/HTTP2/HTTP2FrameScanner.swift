/// Finds the frames of HTTP/2 in received bytes (RFC 9113 §4.1), without their content.
///
/// nghttp2 does not report every frame: it skips unknown frames, and the data of streams that this side has reset.
package struct HTTP2FrameScanner {
  private static let headBytes = 9

  package private(set) var head = HTTP2FrameHead()
  /// The number of bytes of the current head that have arrived.
  private var headCount = 0
  /// The number of payload bytes of the current frame that have not arrived.
  private var missingBytes = 0

  package init() {}

  /// Takes the bytes of one frame, as far as they have arrived.
  ///
  /// - Returns: how many of the bytes belong to the frame, and whether ``head`` has become complete with them.
  package mutating func next(in bytes: UnsafeRawBufferPointer) -> (byteCount: Int, isBegun: Bool) {
    var position = 0
    let wasBegun = headCount == Self.headBytes
    if headCount == 0 { head = HTTP2FrameHead() }
    while headCount < Self.headBytes {
      guard position < bytes.count else { return (position, false) }
      head.take(bytes[position], at: headCount)
      headCount += 1
      position += 1
    }
    if !wasBegun { missingBytes = head.byteCount }
    let count = min(missingBytes, bytes.count - position)
    missingBytes -= count
    if missingBytes == 0 { headCount = 0 }
    return (position + count, !wasBegun)
  }
}

/// The head of a frame.
package struct HTTP2FrameHead {
  /// The size of the payload.
  package private(set) var byteCount = 0
  package private(set) var type: UInt8 = 0
  package private(set) var flags: UInt8 = 0
  /// The number of the stream; 0 for the connection.
  package private(set) var stream: Int32 = 0

  fileprivate mutating func take(_ byte: UInt8, at index: Int) {
    switch index {
    case 0...2: byteCount = byteCount << 8 | Int(byte)
    case 3: type = byte
    case 4: flags = byte
    // The highest bit is reserved and must be ignored.
    case 5: stream = Int32(byte & 0x7F)
    default: stream = stream << 8 | Int32(byte)
    }
  }
}
