import Glibc
import SluiceLoop
import SluiceMessages
import SluiceServer

/// Sends a body that was spilled to a file, as fast as the client takes it.
///
/// Unchecked, because only the loop uses it.
final class FileSender: @unchecked Sendable {
  private static let pieceBytes = 64 << 10
  /// Then other work of the loop has its turn.
  private static let bytesPerTurn = 1 << 20

  private let stream: ServerStream
  private let body: FileBody
  private let trailers: HeaderFields
  private let descriptor: Int32
  private var offset = 0

  init(_ body: FileBody, _ stream: ServerStream, _ trailers: HeaderFields) {
    self.body = body
    self.stream = stream
    self.trailers = trailers
    descriptor = open(body.path, O_RDONLY | O_CLOEXEC)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Sends until the client has enough for now.
  func send() {
    let end = offset + Self.bytesPerTurn
    while offset < body.byteCount, !stream.isOver {
      guard stream.hasRoom else { return }
      guard offset < end else {
        Loop.current?.post { [self] in send() }
        return
      }
      let count = min(Self.pieceBytes, body.byteCount - offset)
      let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
      }
      guard !piece.isEmpty else { return stream.fail() }
      offset += piece.count
      stream.send(piece.span)
    }
    stream.finish(trailers: trailers)
  }
}
