package import SluiceMessages

/// Finds the data and the trailers in a body with chunked coding, as its bytes arrive (RFC 9112 §7.1).
///
/// Lines of the coding must end with CRLF. Unlike in a head, a LF alone is refused: some readers accept it and some do
/// not, so they would find the end of the body in different places.
@usableFromInline
package final class ChunkDecoder {
  private enum State: Sendable {
    /// The next byte belongs to the size of a chunk; `digits` digits of the size were read.
    case size(digits: Int)
    /// The next byte belongs to the spaces between the size and an extension.
    case afterSize
    case `extension`
    case sizeEnd
    case data
    case dataCR
    case dataLF
    case trailers
    case done
  }

  private let limits: MessageLimits
  private let isStrict: Bool
  private var state = State.size(digits: 0)
  /// The number of bytes that are left of the current chunk.
  private var left = 0
  private var extensionBytes = 0
  /// The bytes of the trailers so far; empty if there are none.
  private var trailerBytes: [UInt8] = []
  private var section: FieldSection

  /// The fields after the last chunk. They are complete when ``isDone`` is true.
  package private(set) var trailers = HeaderFields()

  /// - Parameter isStrict: whether extensions and trailers are read without leniency, as a server does.
  package init(_ limits: MessageLimits = MessageLimits(), isStrict: Bool = false) {
    self.limits = limits
    self.isStrict = isStrict
    section = FieldSection(limits, part: "trailers", isStrict: isStrict)
  }

  @usableFromInline package var isDone: Bool {
    if case .done = state { true } else { false }
  }

  /// Returns the position of the next piece of data.
  ///
  /// - Parameters:
  ///   - bytes: bytes of the body. Bytes after its end are allowed.
  ///   - position: where to continue. The call moves it past all bytes that were read. The caller may drop the bytes
  ///     before the new position.
  /// - Returns: nil if all bytes were read, or if the body is done. In the second case, the body ends at `position`.
  package func next(
    in bytes: Span<UInt8>, at position: inout Int
  ) throws(MessageViolation) -> Range<Int>? {
    while position < bytes.count {
      switch state {
      case .data:
        let piece = position..<position + min(left, bytes.count - position)
        position = piece.upperBound
        left -= piece.count
        if left == 0 { state = .dataCR }
        return piece
      case .trailers: try readTrailers(in: bytes, at: &position)
      case .done: return nil
      default:
        try readFraming(bytes[position])
        position += 1
      }
    }
    return nil
  }

  private func readFraming(_ byte: UInt8) throws(MessageViolation) {
    switch state {
    case .size(let digits):
      if let digit = Self.hexadecimal(byte) {
        // A number with fifteen hexadecimal digits fits into an Int.
        guard digits < 15 else { throw MessageViolation(.invalid, "the size of a chunk has more than 15 digits") }
        left = left << 4 | digit
        state = .size(digits: digits + 1)
      } else {
        guard digits > 0 else { throw MessageViolation(.invalid, "a chunk without a size") }
        try readAfterSize(byte)
      }
    case .afterSize: try readAfterSize(byte)
    case .extension:
      try countExtension()
      if byte == 0x0D { state = .sizeEnd } else { try checkExtension(byte) }
    case .sizeEnd:
      guard byte == 0x0A else { throw Self.withoutLineEnd }
      state = left > 0 ? .data : .trailers
    case .dataCR:
      guard byte == 0x0D else { throw MessageViolation(.invalid, "a chunk with more data than its size") }
      state = .dataLF
    case .dataLF:
      guard byte == 0x0A else { throw MessageViolation(.invalid, "a chunk with more data than its size") }
      state = .size(digits: 0)
    case .data, .trailers, .done: break
    }
  }

  /// Spaces may come before an extension (RFC 9112 §7.1.1).
  private func readAfterSize(_ byte: UInt8) throws(MessageViolation) {
    switch byte {
    case 0x0D: state = .sizeEnd
    case UInt8(ascii: ";"): state = .extension
    case 0x20, 0x09:
      try countExtension()
      state = .afterSize
    case 0x0A: throw Self.withoutLineEnd
    default: throw MessageViolation(.invalid, "the size of a chunk is not a hexadecimal number")
    }
  }

  private func countExtension() throws(MessageViolation) {
    extensionBytes += 1
    guard extensionBytes <= limits.chunkExtensionBytes else {
      throw MessageViolation(
        .tooLong(.chunkExtensionBytes), "chunk extensions of more than \(limits.chunkExtensionBytes) bytes")
    }
  }

  private func checkExtension(_ byte: UInt8) throws(MessageViolation) {
    if byte == 0x0A { throw Self.withoutLineEnd }
    if byte == 0 { throw MessageViolation(.invalid, "a chunk extension with a NUL") }
    if isStrict, byte < 0x20 && byte != 0x09 || byte == 0x7F {
      throw MessageViolation(.invalid, "a chunk extension with a control character (RFC 9112 §7.1.1)")
    }
  }

  private func readTrailers(in bytes: Span<UInt8>, at position: inout Int) throws(MessageViolation) {
    // The usual case: the body ends without trailers.
    if trailerBytes.isEmpty, bytes[position] == 0x0D, position + 1 < bytes.count, bytes[position + 1] == 0x0A {
      position += 2
      state = .done
      return
    }
    trailerBytes.append(copying: bytes.extracting(position..<bytes.count))
    position = bytes.count
    let held = trailerBytes
    while true {
      switch try section.next(in: held.span) {
      case .more: return
      case .field, .continued: break
      case .end:
        position -= held.count - section.position
        trailers = section.takeFields(from: held.span.extracting(0..<section.position))
        trailerBytes = []
        state = .done
        return
      }
    }
  }

  private static let withoutLineEnd = MessageViolation(.invalid, "the size of a chunk without CRLF after it")

  private static func hexadecimal(_ byte: UInt8) -> Int? {
    switch byte {
    case 0x30...0x39: Int(byte - 0x30)
    case 0x41...0x46: Int(byte - 0x41 + 10)
    case 0x61...0x66: Int(byte - 0x61 + 10)
    default: nil
    }
  }
}
