/// An endless sequence of bytes that repeats a short unit, for bodies that are too large for memory.
public struct BytePattern: Sendable, Equatable {
  /// The unit, repeated up to about 64 KiB: copies of such a long block are as fast as a plain `memcpy`.
  private let tile: [UInt8]
  private static let tileBytes = 64 * 1024

  /// An empty unit counts as a single zero byte.
  public init(_ unit: [UInt8]) {
    let unit = unit.isEmpty ? [0] : unit
    let repeats = max(1, Self.tileBytes / unit.count)
    tile = Array(repeatElement(unit, count: repeats).joined())
  }

  /// The lower-case letters, repeated. They are readable in a hex dump, and a shifted copy is easy to see.
  public static let alphabet = BytePattern(Array("abcdefghijklmnopqrstuvwxyz".utf8))

  /// The byte at a position of the endless sequence.
  public subscript(offset: UInt64) -> UInt8 {
    tile[Int(offset % UInt64(tile.count))]
  }

  /// Returns `count` bytes, beginning at a position.
  public func bytes(from offset: UInt64, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
      copy(from: offset, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<count]))
      used = count
    }
  }

  /// Fills the buffer with the bytes that start at `offset`.
  func copy(from offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) {
    var written = 0
    tile.withUnsafeBytes { tile in
      while written < buffer.count {
        let start = Int((offset + UInt64(written)) % UInt64(tile.count))
        let piece = tile[start..<min(tile.count, start + buffer.count - written)]
        UnsafeMutableRawBufferPointer(rebasing: buffer[written...]).copyMemory(from: .init(rebasing: piece))
        written += piece.count
      }
    }
  }
}
