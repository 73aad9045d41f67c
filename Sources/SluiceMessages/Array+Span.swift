extension Array where Element == UInt8 {
  /// Copies bytes that somebody else owns.
  public init(copying bytes: Span<UInt8>) {
    self = []
    append(copying: bytes)
  }

  public mutating func append(copying bytes: Span<UInt8>) {
    // Bulk copies out of a span are not to be had otherwise; byte by byte takes ten times as long on every header.
    // Safe because the pointer does not leave the closure, in which the span is borrowed.
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}

extension OutputSpan where Element == UInt8 {
  /// Copies bytes that somebody else owns; there has to be room for them.
  @inline(__always)
  mutating func append(copying bytes: Span<UInt8>) {
    precondition(bytes.count <= freeCapacity)
    // Safe because there is room, and because neither pointer leaves the closure that it is given to.
    unsafe bytes.withUnsafeBufferPointer { source in
      unsafe withUnsafeMutableBufferPointer { target, count in
        _ = unsafe target.extracting(count...).initialize(from: source)
        count += source.count
      }
    }
  }
}
