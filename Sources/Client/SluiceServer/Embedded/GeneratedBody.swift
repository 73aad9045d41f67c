import CMicrohttpd

/// A body that is made piece by piece while it is sent.
final class GeneratedBody: Sendable {
  private let pattern: BytePattern
  private let byteCount: UInt64
  private static let pieceBytes = 64 * 1024

  init(pattern: BytePattern, byteCount: UInt64) {
    self.pattern = pattern
    self.byteCount = byteCount
  }

  /// Makes a response with this body. The response keeps this object alive until the response is destroyed.
  func makeResponse(chunked: Bool) -> OpaquePointer? {
    let owner = Unmanaged.passRetained(self)
    let response = MHD_create_response_from_callback(
      chunked ? sluice_mhd_size_unknown : byteCount, Self.pieceBytes,
      { context, offset, buffer, capacity in
        guard let context, let buffer else { return sluice_mhd_end_of_stream }
        return Unmanaged<GeneratedBody>.fromOpaque(context).takeUnretainedValue()
          .fill(UnsafeMutableRawBufferPointer(start: buffer, count: capacity), from: offset)
      }, owner.toOpaque(),
      { context in
        if let context { Unmanaged<GeneratedBody>.fromOpaque(context).release() }
      })
    if response == nil { owner.release() }
    return response
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) -> Int {
    guard offset < byteCount else { return sluice_mhd_end_of_stream }
    let count = Int(min(UInt64(buffer.count), byteCount - offset))
    pattern.copy(from: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    return count
  }
}
