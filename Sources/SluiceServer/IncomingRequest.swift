import CMicrohttpd

/// A request while it arrives; used only on its connection's worker.
final class IncomingRequest {
  enum Stage: Equatable {
    case new
    case reading
    /// The body is longer than the limit; the rest is dropped.
    case overflowing
    case parked(ConnectionParking.Ticket)
  }

  let target: String
  var method = ""
  var version = ""
  var stage = Stage.new
  private(set) var body: [UInt8] = []

  init(target: String) {
    self.target = target
  }

  func append(_ piece: UnsafeRawBufferPointer, limit: Int) {
    guard stage == .reading else { return }
    guard piece.count <= limit - body.count else {
      stage = .overflowing
      body = []
      return
    }
    body.append(contentsOf: piece)
  }

  /// The finished request; the body moves into it.
  func finish(on connection: Connection) -> ServerRequest {
    defer { body = [] }
    return ServerRequest(
      method: method, target: target, version: version, headers: connection.lines(.HEADER_KIND), body: body,
      trailers: connection.lines(.FOOTER_KIND), peer: connection.peer, peerUser: connection.peerUser,
      descriptor: connection.descriptor)
  }
}
