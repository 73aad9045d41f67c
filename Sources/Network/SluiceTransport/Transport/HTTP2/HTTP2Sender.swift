import CNGHTTP2

/// Sends the frames of a connection of HTTP/2: it asks nghttp2 for them, and keeps the bytes that the socket did not
/// take. Only the loop uses it.
package final class HTTP2Sender {
  package enum Progress {
    /// Everything was sent.
    case done
    /// The socket is full, or the connection was closed.
    case waiting
    /// The socket takes more, but other connections should have their turn.
    case more
    /// The peer has closed the connection.
    case lost
    /// nghttp2 has failed.
    case failed
  }

  /// The number of bytes after which writing stops, so that other connections get their turn.
  private static let bytesPerTurn = 1 << 20
  private static let bytesPerSend = 65_536

  private let session: OpaquePointer
  /// Bytes that the socket did not take. They begin at `offset`.
  @exclusivity(unchecked) private var unsent: [UInt8] = []
  private var offset = 0
  private var isStopped = false
  /// The bytes that the socket has taken so far.
  package private(set) var sentBytes = 0

  package init(_ session: OpaquePointer) { self.session = session }

  /// Sends the pending bytes, as far as the socket takes them.
  package func flush(through channel: Channel) -> Progress {
    var count = 0
    while true {
      if offset < unsent.count {
        switch send(through: channel) {
        case .bytes(let sent):
          offset += sent
          sentBytes += sent
          count += sent
        case .wouldBlock: return .waiting
        case .end, .failed:
          dropUnsent()
          return .lost
        }
        continue
      }
      dropUnsent()
      if count >= Self.bytesPerTurn { return .more }
      guard serialize() else { return .failed }
      // What nghttp2 reports while it writes can close the connection.
      if isStopped { return .waiting }
      if unsent.isEmpty { return .done }
    }
  }

  /// Sends what the socket takes before the connection is closed.
  package func sendLast(through channel: Channel) {
    if serialize() { _ = send(through: channel) }
  }

  /// Drops what was not sent. The connection is closed.
  package func stop() {
    isStopped = true
    dropUnsent()
  }

  private func send(through channel: Channel) -> StreamSocket.Outcome {
    unsent.withUnsafeBytes {
      channel.send(UnsafeRawBufferPointer(rebasing: $0[offset...]), UnsafeRawBufferPointer(rebasing: $0[..<0]))
    }
  }

  private func dropUnsent() {
    unsent = []
    offset = 0
  }

  /// Collects the next frames to send. Returns false if nghttp2 fails.
  private func serialize() -> Bool {
    while unsent.count < Self.bytesPerSend {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      if count < 0 { return false }
      if count == 0 { break }
      unsent.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
    }
    return true
  }
}
