import CMicrohttpd

/// A request that is arriving. It is used only on the worker of its connection.
final class IncomingRequest {
  enum Stage: Equatable {
    case new
    case reading
    /// The body has exceeded the limit, so its remaining bytes are read and dropped.
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

  /// Returns the complete request, and moves the body into it.
  func finish(on connection: Connection) -> ServerRequest {
    defer { body = [] }
    return ServerRequest(
      method: method, target: target, version: version, headers: connection.lines(.HEADER_KIND), body: body,
      trailers: connection.lines(.FOOTER_KIND), peer: connection.peer, peerUser: connection.peerUser)
  }
}
