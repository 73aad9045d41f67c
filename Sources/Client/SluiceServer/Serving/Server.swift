import SluiceHTTP1
package import SluiceLoop
package import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A complete request that a ``Server`` has received.
package struct ReceivedRequest: Sendable {
  package let head: ServerRequestHead
  package let body: [UInt8]
  package let trailers: HeaderFields
}

/// A server for HTTP/1.1 and HTTP/2 on event loops. Without TLS, clients begin HTTP/2 with prior knowledge
/// (RFC 9113 §3.3); with TLS, both sides agree on it (§3.2).
///
///     let server = try Server(on: .tcp(port: 8080)) { request in
///       Response(status: 200, body: .bytes(Array("hello \(request.head.target)\n".utf8)))
///     }
///     print(server.endpoint)
///     server.drain(within: .seconds(10))
package final class Server: Sendable {
  /// The address on which the server listens, with the actual port.
  package let endpoint: ServerEndpoint
  private let ports: [ServerPort]
  /// The loops that end with the server.
  private let ownLoops: [Loop]
  private let file: UnixSocketFile?

  /// Starts a server on loops of its own. It listens when this returns.
  /// - Parameters:
  ///   - bodyBytes: the largest body of a request. The answer to a larger one is 413.
  ///   - answer: makes the response; is cancelled if the client goes away. Its body must be in memory.
  package convenience init(
    on endpoint: ServerEndpoint = .tcp(), loops count: Int = 1, limits: ServerLimits = ServerLimits(),
    tls: ServerTLS? = nil, bodyBytes: Int = 64 << 20, answer: @escaping @Sendable (ReceivedRequest) async -> Response
  ) throws {
    var loops: [Loop] = []
    for index in 0..<max(count, 1) { loops.append(try Loop(index: index)) }
    do {
      try self.init(
        on: endpoint, loops, limits: limits, tls: tls, isOwner: true, AnsweringHandler(bodyBytes, answer))
    } catch {
      for loop in loops { loop.shutdown() }
      throw error
    }
  }

  /// Starts a server on these loops. It listens when this returns.
  /// - Parameters:
  ///   - tls: the settings of TLS; nil without TLS.
  ///   - isOwner: whether the loops end with the server.
  package convenience init(
    on endpoint: ServerEndpoint, _ loops: [Loop], limits: ServerLimits, tls: ServerTLS? = nil, isOwner: Bool = false,
    _ handler: any ServerHandler
  ) throws(ServerError) {
    let listeners = try SharedListener.several(loops.count, on: endpoint)
    self.init(accepting: listeners, loops, limits: limits, tls: tls, isOwner: isOwner, handler)
  }

  /// Starts a server that accepts from sockets on one address. The loops share them.
  package init(
    accepting listeners: [SharedListener], _ loops: [Loop], limits: ServerLimits, tls: ServerTLS? = nil,
    isOwner: Bool = false, _ handler: any ServerHandler
  ) {
    self.endpoint = listeners[0].endpoint
    file = listeners[0].socket.file
    ports = loops.map { ServerPort($0, limits, tls: tls, handler) }
    ownLoops = isOwner ? loops : []
    for (index, port) in ports.enumerated() { port.start(listeners[min(index, listeners.count - 1)]) }
  }

  /// The port in use; 0 for a Unix socket.
  package var port: UInt16 { endpoint.port }

  /// Accepts no further connections, answers the requests that have begun, and then ends. Connections that are left when
  /// the time has passed are closed. Blocks until all have ended, and returns whether that was in time. Must not be called
  /// on a loop of the server.
  @discardableResult
  package func drain(within limit: Duration) -> Bool { beginDraining()(limit) }

  /// Accepts no further connections. The returned function does the rest of ``drain(within:)``.
  package func beginDraining() -> (_ limit: Duration) -> Bool {
    file?.remove()
    let left = Monitor(ports.count)
    for port in ports { port.drain { left.update { $0 -= 1 } } }
    return { [self] limit in
      let isInTime = left.wait(upTo: limit) { $0 == 0 ? true : nil } ?? false
      stop()
      return isInTime
    }
  }

  /// Closes the listening socket and all connections.
  package func stop() {
    file?.remove()
    for port in ports { port.stop() }
    for loop in ownLoops { loop.shutdown() }
  }
}

/// Collects the body of each request, and answers with what a closure returns.
private final class AnsweringHandler: ServerHandler {
  typealias Answer = @Sendable (ReceivedRequest) async -> Response

  private let bodyBytes: Int
  private let answer: Answer

  init(_ bodyBytes: Int, _ answer: @escaping Answer) { (self.bodyBytes, self.answer) = (bodyBytes, answer) }

  func handle(_ stream: ServerStream) {
    stream.delegate = AnsweringExchange(stream, bodyBytes, answer)
    if stream.head.body == .none || stream.head.body == .length(0) {
      stream.delegate?.receiveEnd(HeaderFields())
    } else {
      stream.readBody()
    }
  }
}

/// One request of an ``AnsweringHandler``. Only its loop uses it.
private final class AnsweringExchange: ServerStreamDelegate, @unchecked Sendable {
  // Sendable: the task that makes the answer runs on the loop, too, where it passes this object on.
  private let stream: ServerStream
  private let bodyBytes: Int
  private let answer: AnsweringHandler.Answer
  private var body: [UInt8] = []
  private var task: Task<Void, Never>?

  init(_ stream: ServerStream, _ bodyBytes: Int, _ answer: @escaping AnsweringHandler.Answer) {
    (self.stream, self.bodyBytes, self.answer) = (stream, bodyBytes, answer)
  }

  func receive(_ bytes: Span<UInt8>) {
    guard body.count + bytes.count <= bodyBytes else {
      body = []
      return send(Response(status: 413))
    }
    body.append(copying: bytes)
  }

  func receiveEnd(_ trailers: HeaderFields) {
    guard !stream.isOver, let loop = Loop.current else { return }
    let request = ReceivedRequest(head: stream.head, body: body, trailers: trailers)
    body = []
    task = Task(executorPreference: loop) { [self] in
      let response = await answer(request)
      loop.post { self.send(response) }
    }
  }

  func clientHalfClosed() {}
  func canSend() {}
  func cancel() { task?.cancel() }

  private func send(_ response: Response) {
    guard let bytes = response.body.bytes, (200...999).contains(response.status) else {
      stream.respond(500, HeaderFields(), .bytes(0))
      return stream.finish()
    }
    let isChunked = !response.trailers.isEmpty
    stream.respond(response.status, response.headers, isChunked ? .unknown : .bytes(bytes.count))
    stream.send(bytes.span)
    stream.finish(trailers: response.trailers)
  }
}
