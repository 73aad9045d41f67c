import CNGHTTP2
import SluiceLoop

// Received bytes of bodies, and the windows of flow control that they use up.
extension HTTP2Connection {
  /// Takes a piece of a response body.
  func take(_ piece: UnsafeRawBufferPointer, _ stream: HTTP2Stream) {
    // The connection's window is refilled at once, even if the stream cannot take the piece. The stream's own window
    // limits what the peer can send.
    _ = nghttp2_session_consume_connection(session, piece.count)
    guard let transfer = stream.transfer else { return }
    transfer.times.receive(at: Loop.now)
    if stream.held.isEmpty {
      transfer.passRestOn()
      if transfer.isOver { return transfer.stop() }
      if !transfer.isHeldBack {
        guard transfer.receive(piece) else { return transfer.stop() }
        return consume(stream, piece.count)
      }
    }
    stream.held.append(contentsOf: piece)
  }

  /// Refills the window of the stream, so that the peer can send this many more bytes.
  func consume(_ stream: HTTP2Stream, _ count: Int) {
    guard !isClosed, !stream.isClosed else { return }
    _ = nghttp2_session_consume_stream(session, stream.id, count)
    transport.flushLater(self)
  }

  /// Drops bytes that have arrived for a stream that no longer exists.
  func drop(_ count: Int) { _ = nghttp2_session_consume_connection(session, count) }
}
