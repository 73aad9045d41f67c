package import SluiceMessages

/// Finds the data and the end of the body of a response or a request in the bytes of its connection (RFC 9112 §6.3).
@usableFromInline
package enum ReceivedBody {
  /// There is no body, or it has ended.
  case done
  /// The number of bytes that are left.
  case length(Int)
  case chunked(ChunkDecoder)
  /// The body ends with the connection.
  case close

  package init(_ framing: ResponseFraming.Body, _ limits: MessageLimits = MessageLimits()) {
    switch framing {
    case .none, .length(0): self = .done
    case .length(let count): self = .length(count)
    case .chunked: self = .chunked(ChunkDecoder(limits))
    case .close, .stream: self = .close
    }
  }

  /// The body of a request, which is read without leniency.
  package init(_ framing: RequestFraming.Body, _ limits: MessageLimits = MessageLimits()) {
    switch framing {
    case .none, .length(0): self = .done
    case .length(let count): self = .length(count)
    case .chunked, .codedChunks: self = .chunked(ChunkDecoder(limits, isStrict: true))
    }
  }

  @inlinable package var isDone: Bool {
    switch self {
    case .done: true
    case .chunked(let body): body.isDone
    case .length, .close: false
    }
  }

  /// Whether the next `byteCount` bytes certainly contain the rest of the body.
  package func isWhole(in byteCount: Int) -> Bool {
    switch self {
    case .done: true
    case .length(let left): byteCount >= left
    case .chunked, .close: false
    }
  }

  /// Whether the body ends with the connection.
  package var mayEndWithConnection: Bool {
    if case .close = self { true } else { false }
  }

  /// The trailers of a chunked body. They are complete when the body is done.
  package var trailers: HeaderFields {
    if case .chunked(let body) = self { body.trailers } else { HeaderFields() }
  }

  /// Returns the position of the next piece of data.
  ///
  /// - Parameters:
  ///   - bytes: bytes of the body. Bytes after its end are allowed.
  ///   - position: where to continue. The call moves it past all bytes that were read.
  /// - Returns: nil if all bytes were read, or if the body is done. In the second case, the body ends at `position`.
  package mutating func next(
    in bytes: Span<UInt8>, at position: inout Int
  ) throws(MessageViolation) -> Range<Int>? {
    guard position < bytes.count else { return nil }
    switch self {
    case .done: return nil
    case .length(let left):
      let piece = position..<position + min(left, bytes.count - position)
      position = piece.upperBound
      self = left == piece.count ? .done : .length(left - piece.count)
      return piece
    case .close:
      let piece = position..<bytes.count
      position = bytes.count
      return piece
    case .chunked(let body): return try body.next(in: bytes, at: &position)
    }
  }
}
