import Sluice
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTraceContext
import SluiceTransport

/// One request of a client as one transaction: passes the bodies on, both ways, and ends each side when the other has
/// ended.
///
/// Unchecked, because only the loop of the stream uses it. The transaction runs on the same loop.
final class GatewayExchange: ServerStreamDelegate, BodySink, @unchecked Sendable {
  /// A body up to this size is received before the transaction begins, if its length is known. The request can then be
  /// sent again, and a client that sends slowly occupies no connection to the upstream.
  private static let gatheredBytes = 64 << 10

  private let stream: ServerStream
  private let handler: GatewayHandler
  private let cancellation = Cancellation()
  /// The request that begins when its body has arrived, and the part of the body that has.
  private var gathering: (request: Request, parent: ParentContext, body: [UInt8])?
  private var upload: RequestBuffer?
  /// A body that a stage has held, and that is sent when the transaction is over.
  private var file: FileSender?

  private init(_ stream: ServerStream, _ handler: GatewayHandler) { (self.stream, self.handler) = (stream, handler) }

  /// Begins the transaction of a request that has no body yet, at once or when its body has arrived.
  static func begin(
    _ stream: ServerStream, _ handler: GatewayHandler, _ request: consuming Request, parent: ParentContext
  ) {
    let exchange = GatewayExchange(stream, handler)
    stream.delegate = exchange
    switch stream.head.body {
    case .none, .length(0): exchange.submit(request, parent)
    case .length(let count) where count <= gatheredBytes && !stream.head.fields.contains("expect"):
      exchange.gathering = (request, parent, [])
      exchange.gathering?.body.reserveCapacity(count)
      stream.readBody()
    default:
      let (buffer, body) = RequestBuffer.make(stream, limit: handler.bufferBytes)
      exchange.upload = buffer
      request.body = body
      exchange.submit(request, parent)
    }
  }

  private func submit(_ request: consuming Request, _ parent: ParentContext) {
    let loop = Loop.current
    handler.engine.submit(
      request, parent: parent, sink: self, checks: GatewayHandler.checks, cancellation: cancellation
    ) { [self] result in
      // If a stage blocks the loop, another thread gives the result.
      if let loop, !loop.isCurrent { return loop.post { self.complete(result) } }
      complete(result)
    }
  }

  // MARK: The client

  func receive(_ bytes: Span<UInt8>) {
    if let upload { return upload.append(bytes) }
    gathering?.body.append(copying: bytes)
  }

  func receiveEnd(_ trailers: HeaderFields) {
    if let upload { return upload.end(handler.passedOn(trailers, of: stream.head)) }
    guard var gathered = gathering.take() else { return }
    gathered.request.body = .bytes(gathered.body)
    submit(gathered.request, gathered.parent)
  }

  /// Hardly any client closes only its side, so the client is gone.
  func clientHalfClosed() {
    cancel()
    stream.fail()
  }

  func cancel() {
    gathering = nil
    file = nil
    cancellation.cancel()
  }

  func canSend() {
    if let file { return file.send() }
    cancellation.resumeReceiving()
  }

  // MARK: The transaction

  var gatheredBytes: Int { 16 << 10 }

  func receiveInformational(_ status: Int, _ headers: HeaderFields) {
    // The server itself answers an expectation. A change of the protocol is not passed on.
    guard status > 101 else { return }
    if let fields = Self.passedOn(headers) { stream.sendInformational(status, fields) }
  }

  func begin(_ head: Response) { respond(head, length: Self.length(of: head)) }

  func receive(_ piece: [UInt8]) -> BodyProgress {
    guard !stream.isOver else { return .stop }
    stream.send(piece.span)
    return stream.hasRoom ? .proceed : .pause
  }

  private func complete(_ result: TransactionResult) {
    handler.observer?.note(result)
    guard !stream.isOver else { return }
    if let error = result.error {
      return stream.hasAnswered ? stream.fail() : GatewayRefusal(error).answer(stream)
    }
    guard let response = result.response else { return GatewayRefusal(.withoutResponse).answer(stream) }
    let trailers = Self.passedOn(response.trailers, of: response)
    if stream.hasAnswered { return stream.finish(trailers: trailers) }
    switch response.body {
    case .empty:
      respond(response, length: isBodiless(response) ? Self.length(of: response) : trailers.isEmpty ? 0 : nil)
    case .bytes(let bytes):
      respond(response, length: trailers.isEmpty ? bytes.count : nil)
      stream.send(bytes.span)
    case .file(let body):
      respond(response, length: trailers.isEmpty ? body.byteCount : nil)
      guard let source = try? body.stream() else { return stream.fail() }
      file = FileSender(source, stream, trailers)
      file?.send()
      return
    case .stream: return stream.fail()
    }
    stream.finish(trailers: trailers)
  }

  // MARK: The response

  private func respond(_ response: Response, length: Int?) {
    guard !stream.hasAnswered else { return }
    guard let fields = Self.passedOn(response.headers) else {
      GatewayRefusal(502, .invalidResponse, "Connection lists too many options").answer(stream)
      return cancellation.cancel()
    }
    stream.respond(response.status, fields, length.map { .bytes($0) } ?? .unknown)
  }

  /// Whether the fields describe a body that is not sent (RFC 9110 §9.3.2, §15.4.5).
  private func isBodiless(_ response: Response) -> Bool { stream.head.method == "HEAD" || response.status == 304 }

  /// The length that the head announces; nil if it announces none.
  private static func length(of response: Response) -> Int? {
    guard !response.headers.contains("transfer-encoding") else { return nil }
    return response.headers.contentLength
  }

  /// The fields of a response without those that its `Connection` names. The server leaves out the other fields of a
  /// connection. Nil if `Connection` names too many.
  private static func passedOn(_ fields: HeaderFields) -> HeaderFields? {
    let options = ConnectionOptions(fields)
    return options.isTooLong ? nil : without(options, fields)
  }

  /// The trailers without fields of the connection, and without those that would change how the client reads the message.
  private static func passedOn(_ trailers: HeaderFields, of response: Response) -> HeaderFields {
    guard !trailers.isEmpty else { return trailers }
    var kept = without(ConnectionOptions(response.headers), trailers)
    kept.removeBarredFromTrailers()
    return kept
  }

  private static func without(_ options: ConnectionOptions, _ fields: HeaderFields) -> HeaderFields {
    guard !options.isEmpty else { return fields }
    var fields = fields
    for index in fields.indices.reversed() {
      if options.names(fields.buffer.span.extracting(fields.nameRange(at: index))) { fields.remove(at: index) }
    }
    return fields
  }
}
