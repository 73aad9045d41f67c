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

  private let source: BodyStream
  private let stream: ServerStream
  private let trailers: HeaderFields

  /// - Parameter source: always has a piece until its end, as a file does.
  init(_ source: BodyStream, _ stream: ServerStream, _ trailers: HeaderFields) {
    (self.source, self.stream, self.trailers) = (source, stream, trailers)
  }

  /// Sends until the client has enough for now.
  func send() {
    var count = 0
    while !stream.isOver, stream.hasRoom {
      guard count < Self.bytesPerTurn else {
        Loop.current?.post { [self] in send() }
        return
      }
      do {
        guard let piece = try source.read(Self.pieceBytes) else { return stream.finish(trailers: trailers) }
        count += piece.count
        stream.send(piece.span)
      } catch { return stream.fail() }
    }
  }
}
