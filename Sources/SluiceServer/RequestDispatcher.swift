import CMicrohttpd

/// Brings each request from its first header to its answer.
final class RequestDispatcher: Sendable {
  private let parking: ConnectionParking
  private let handler: EmbeddedServer.Handler
  private let maxBodyBytes: Int
  private let bodyRefusal: @Sendable (Int) -> ServerResponse

  init(handler: @escaping EmbeddedServer.Handler, _ options: ServerOptions, parking: ConnectionParking) {
    self.parking = parking
    self.handler = handler
    maxBodyBytes = options.maxBodyBytes
    bodyRefusal = options.bodyRefusal
  }

  /// Called with headers, then per piece of the body, then with an empty piece, and once more after parking.
  func advance(
    _ request: IncomingRequest, on connection: Connection, with piece: UnsafeRawBufferPointer
  ) -> MHD_Result {
    switch request.stage {
    case .new:
      return begin(request, on: connection)
    case .reading, .overflowing:
      guard piece.isEmpty else {
        request.append(piece, limit: maxBodyBytes)
        return .YES
      }
      return request.stage == .reading ? answer(request, on: connection) : refuseBody(on: connection)
    case .parked(let ticket):
      return parking.takeAnswer(ticket).map { send($0, on: connection) } ?? .NO
    }
  }

  /// A declared length over the limit is refused before the client sends it (RFC 9110 §10.1.1).
  private func begin(_ request: IncomingRequest, on connection: Connection) -> MHD_Result {
    request.stage = .reading
    if let length = connection.contentLength, length > UInt64(maxBodyBytes) { return refuseBody(on: connection) }
    return .YES
  }

  private func answer(_ request: IncomingRequest, on connection: Connection) -> MHD_Result {
    let response = handler(request.finish(on: connection))
    guard case .deferred(let start) = response.form else { return send(response, on: connection) }
    guard let ticket = parking.park(connection) else { return .NO }
    request.stage = .parked(ticket)
    start(DeferredResponse(parking: parking, ticket: ticket))
    return .YES
  }

  private func refuseBody(on connection: Connection) -> MHD_Result {
    send(bodyRefusal(maxBodyBytes), on: connection)
  }

  /// `.NO` makes libmicrohttpd close the connection.
  private func send(_ response: ServerResponse, on connection: Connection) -> MHD_Result {
    guard case .answer = response.form else { return .NO }
    return OutgoingResponse(response).queue(on: connection)
  }
}
