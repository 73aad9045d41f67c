import Glibc

/// Reads a piece from a descriptor with one call.
package enum DescriptorPiece {
  /// Returns an empty array at the end of the file, and nil if the read fails; `errno` then has the reason.
  package static func read(_ descriptor: CInt) -> [UInt8]? {
    var count = -1
    let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, filled in
      repeat { count = Glibc.read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
      filled = max(count, 0)
    }
    return count < 0 ? nil : bytes
  }
}
