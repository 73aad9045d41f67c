import CLinux
import CMicrohttpd
import Glibc
import SluiceSupport

/// Takes each request from its first header to its answer.
final class RequestDispatcher: Sendable {
  private let parking: ConnectionParking
  private let handler: EmbeddedServer.Handler
  private let maximumBodyBytes: Int
  private let connectionMemoryBytes: Int
  private let bodyRefusal: @Sendable (Int) -> ServerResponse
  private let headRefusal: @Sendable (HeadFault) -> ServerResponse
  private let crowdRefusal: ServerResponse
  /// The open connections; nil if their number is not limited.
  private let connections: Locked<OpenConnections>?
  /// The connections whose request line has arrived, but not the end of the head.
  private let unfinishedHeads = Locked<Set<OpenConnections.ID>>([])

  init(handler: @escaping EmbeddedServer.Handler, _ options: ServerOptions, parking: ConnectionParking) {
    self.parking = parking
    self.handler = handler
    maximumBodyBytes = options.maximumBodyBytes
    connectionMemoryBytes = options.connectionMemoryBytes
    bodyRefusal = options.bodyRefusal
    headRefusal = options.headRefusal
    crowdRefusal = options.crowdRefusal
    connections = options.maximumConnections.map { Locked(OpenConnections(limit: $0)) }
  }

  /// Called when the headers have arrived, for each piece of the body, and with an empty piece at the end. If the
  /// request was parked, called once more when it is resumed.
  func advance(
    _ request: IncomingRequest, on connection: Connection, with piece: UnsafeRawBufferPointer
  ) -> MHD_Result {
    switch request.stage {
    case .new:
      return begin(request, on: connection)
    case .reading, .overflowing:
      guard piece.isEmpty else {
        request.append(piece, limit: maximumBodyBytes)
        return .YES
      }
      return request.stage == .reading ? answer(request, on: connection) : refuseBody(of: request, on: connection)
    case .parked(let ticket):
      return parking.takeAnswer(ticket).map { send($0, to: request, on: connection) } ?? .NO
    }
  }

  /// Checks the head. A head that can be read in two ways is refused, and nothing after it is read. If the declared
  /// length is over the limit, the request is refused before the client sends the body (RFC 9110 §10.1.1).
  private func begin(_ request: IncomingRequest, on connection: Connection) -> MHD_Result {
    request.stage = .reading
    unfinishedHeads.withLock { _ = $0.remove(connection.id) }
    if let fault = connection.headCheck.fault(version: request.version) {
      return refuse(request, fault, on: connection)
    }
    if let length = connection.contentLength, length > UInt64(maximumBodyBytes) {
      return refuseBody(of: request, on: connection)
    }
    return .YES
  }

  private func answer(_ request: IncomingRequest, on connection: Connection) -> MHD_Result {
    guard connections?.withLock({ $0.begin(connection.id) }) ?? true else {
      return send(crowdRefusal, to: request, on: connection)
    }
    let response = handler(request.finish(on: connection))
    guard case .deferred(let start) = response.form else { return send(response, to: request, on: connection) }
    guard let ticket = parking.park(connection) else { return .NO }
    request.stage = .parked(ticket)
    start(DeferredResponse(parking: parking, ticket: ticket))
    return .YES
  }

  private func refuse(_ request: IncomingRequest, _ fault: HeadFault, on connection: Connection) -> MHD_Result {
    var refusal = headRefusal(fault)
    refusal.headers.append(HeaderLine("Connection", "close"))
    return send(refusal, to: request, on: connection)
  }

  private func refuseBody(of request: IncomingRequest, on connection: Connection) -> MHD_Result {
    send(bodyRefusal(maximumBodyBytes), to: request, on: connection)
  }

  /// Called when the request line has arrived.
  func began(_ connection: Connection) { unfinishedHeads.withLock { _ = $0.insert(connection.id) } }

  /// Called when the answer to the request was sent or given up.
  func end(on connection: Connection) {
    unfinishedHeads.withLock { _ = $0.remove(connection.id) }
    connections?.withLock { $0.end(connection.id) }
  }

  /// Answers the requests whose length libmicrohttpd cannot read. Called before libmicrohttpd answers one of them.
  ///
  /// libmicrohttpd 0.9.75 writes the head of this answer twice. It writes no body that the program has chosen, and
  /// nothing tells which connection it answers. So the answer is written to the socket here, and the socket is shut down
  /// for writing: then libmicrohttpd cannot write its answer, and closes the connection.
  func refuseBrokenLengths() {
    for id in unfinishedHeads.withLock({ $0 }) {
      guard let connection = Connection(id), let refusal = refusalOfLength(on: connection) else { continue }
      unfinishedHeads.withLock { _ = $0.remove(id) }
      RawResponse(refusal).writeLast(to: connection.descriptor)
    }
  }

  private func refusalOfLength(on connection: Connection) -> ServerResponse? {
    switch connection.headCheck.lengthFault {
    case .none: nil
    case .tooLarge: bodyRefusal(maximumBodyBytes)
    case .malformed(let fault): headRefusal(fault)
    }
  }

  /// Counts a new connection. If there are now too many, shuts down the socket of an idle connection, which
  /// libmicrohttpd then treats as if its client had disconnected.
  func opened(_ connection: Connection) {
    let leaving = connections?.withLock { $0.open(connection.id, descriptor: connection.descriptor) }
    if let leaving { shutdown(leaving, sluice_shutdown_both) }
  }

  func closed(_ connection: Connection) { connections?.withLock { $0.close(connection.id) } }

  /// `.NO` makes libmicrohttpd close the connection.
  private func send(
    _ response: ServerResponse, to request: IncomingRequest, on connection: Connection
  ) -> MHD_Result {
    guard case .answer = response.form else { return .NO }
    let isHead = request.method == "HEAD"
    guard hasRoom(for: response, to: request, on: connection) else {
      let refusal = ServerResponse.text(
        "the head of the handler's response is too large for this server\n", status: 500)
      return OutgoingResponse(refusal, isHead: isHead).queue(on: connection)
    }
    return OutgoingResponse(response, isHead: isHead).queue(on: connection)
  }

  /// Whether the connection's memory has room for the head of the response, in addition to the head of the request.
  /// Without room, libmicrohttpd closes the connection without a byte of response.
  private func hasRoom(
    for response: ServerResponse, to request: IncomingRequest, on connection: Connection
  ) -> Bool {
    let bytes = response.headers.reduce(Self.ownHeadBytes) { $0 + $1.name.utf8.count + $1.valueBytes.count + 4 }
    return bytes + request.target.utf8.count + connection.headBytes <= connectionMemoryBytes
  }

  /// More than the bytes of a status line and of the fields that the server adds, with libmicrohttpd's own need.
  private static let ownHeadBytes = 1024
}
