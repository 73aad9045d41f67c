import CNGHTTP2
import SluiceHTTP1
import SluiceMessages
import SluicePipeline

/// One request on a connection of HTTP/2, and the response to it. Only its loop uses it.
final class HTTP2ServerStream: ServerStreamCarrier {
  let id: Int32
  private unowned let connection: HTTP2ServerConnection
  /// What the handler has; nil before the head is complete, and if the request was refused.
  private(set) var stream: ServerStream?
  /// Whether nghttp2 has closed the stream.
  private(set) var isClosed = false
  /// Whether this side ends the stream, and the client has done nothing wrong.
  var isGivenUp = false
  /// When a piece of the request has arrived, or the handler has begun to wait for one.
  private var lastInput: Instant
  /// When a piece of the response was given or taken.
  private var lastOutput: Instant

  // The request.
  private var request = HTTP2ServerRequest()
  private var trailers = HeaderFields()
  private var trailerBytes = 0
  private var hasHead = false
  private var isHead = false
  /// Whether the end of the request has arrived.
  private(set) var isComplete = false
  private var hasToldEnd = false
  private var expectsContinue = false
  /// Bytes of the body that the handler does not take yet. The window of the stream limits them.
  private var held: [UInt8] = []

  // The response.
  /// The head of a response whose length is not known. If it ends in the same turn and has no body, the head itself ends the
  /// stream. Clients of gRPC need that.
  private var unsent: (status: Int, fields: HeaderFields)?
  /// Bytes of the body that nghttp2 has not taken. They begin at `sentCount`.
  private var output: [UInt8] = []
  private var sentCount = 0
  /// The bytes of the body that are still to be given; nil if their number is not known.
  private var bytesLeft: Int?
  private var skipsBody = false
  private var hasAnswered = false
  private var isFinished = false
  private var sentTrailers = HeaderFields()
  /// Whether nghttp2 must be told when it can ask for the body again.
  private var isDeferred = false
  /// Whether the handler waits for room in the output.
  private(set) var waitsForRoom = false

  init(_ id: Int32, _ connection: HTTP2ServerConnection) {
    self.id = id
    self.connection = connection
    (lastInput, lastOutput) = (connection.now, connection.now)
  }

  /// Whether a handler has the request.
  var isInFlight: Bool { stream?.isOver == false }

  // MARK: The request

  /// Takes a field of the head or of the trailers. Returns false if the stream must end.
  func take(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    let limits = connection.port.limits.messages
    guard hasHead else { return request.take(name, value, limits) }
    trailerBytes += name.count + value.count + 32
    guard trailerBytes <= limits.headBytes, trailers.count < limits.fields, FieldSyntax.isFieldValue(value) else {
      return false
    }
    // Such a field would change how a server behind this one reads the message (RFC 9110 §6.5.1).
    if !FieldSyntax.isBarredFromTrailers(name) { trailers.append(name, value) }
    return true
  }

  func refuseField() {
    if hasHead { connection.reset(self, NGHTTP2_PROTOCOL_ERROR, isFault: true) } else { request.refuse() }
  }

  /// The fields of the head or of the trailers are complete.
  func didReceiveFields(isLast: Bool) {
    lastInput = connection.now
    if !hasHead {
      hasHead = true
      if isLast { isComplete = true }
      begin()
    }
    if isLast { didReceiveEnd() }
  }

  private func begin() {
    isHead = request.isHead
    let head: ServerRequestHead
    do throws(RequestViolation) { head = try request.head(hasBody: !isComplete) } catch { return refuse(error.status) }
    expectsContinue = request.expectsContinue
    request = HTTP2ServerRequest()
    let stream = ServerStream(head, from: connection.client(head.version), on: self)
    self.stream = stream
    connection.port.handler.handle(stream)
  }

  func didReceiveEnd() {
    isComplete = true
    deliver()
  }

  /// Takes a piece of the body.
  func take(_ piece: UnsafeRawBufferPointer) {
    lastInput = connection.now
    guard let stream, !stream.isOver else { return }
    if held.isEmpty, !stream.isPaused {
      stream.delegate?.receive(piece.assumingMemoryBound(to: UInt8.self).span)
      connection.consume(self, piece.count)
    } else {
      held.append(contentsOf: piece)
      connection.heldBytes += piece.count
    }
  }

  /// Passes on what was held, and the end of the request.
  func deliver() {
    guard let stream, !stream.isOver, !stream.isPaused else { return }
    if !held.isEmpty {
      var bytes: [UInt8] = []
      swap(&bytes, &held)
      connection.heldBytes -= bytes.count
      lastInput = connection.now
      stream.delegate?.receive(bytes.span)
      connection.consume(self, bytes.count)
    }
    guard isComplete, !hasToldEnd, !stream.isOver else { return }
    hasToldEnd = true
    stream.delegate?.receiveEnd(trailers)
  }

  // MARK: The carrier

  var ownDescriptor: Int32? { nil }
  var memo: AnyObject? {
    get { connection.memo }
    set { connection.memo = newValue }
  }

  func readBody() {
    lastInput = connection.now
    if expectsContinue, !hasAnswered {
      expectsContinue = false
      sendInformational(100, HeaderFields())
    }
    connection.deliverLater(self)
  }

  func sendInformational(_ status: Int, _ fields: HeaderFields) {
    guard !isClosed, !hasAnswered else { return }
    connection.submit(informational: status, fields, self)
  }

  func respond(_ status: Int, _ fields: HeaderFields, _ length: ServerStream.Length, closes: Bool) {
    guard !isClosed else { return }
    hasAnswered = true
    lastOutput = connection.now
    let hasNoBody = SentResponseHead.hasNoBody(status: status)
    skipsBody = hasNoBody || isHead
    var announced: Int?
    if case .bytes(let count) = length {
      if !hasNoBody || status == 304 && count > 0 { announced = count }
      if !skipsBody { bytesLeft = count }
    }
    let hasBody = !skipsBody && length != .bytes(0)
    if hasBody, announced == nil {
      unsent = (status, fields)
      connection.submitLater(self)
    } else {
      connection.submit(response: status, fields, announced, hasBody: hasBody, self)
    }
    if closes { connection.drain() }
  }

  func send(_ bytes: Span<UInt8>) {
    guard hasAnswered, !isFinished else { return breakResponse() }
    guard !isClosed, !skipsBody, !bytes.isEmpty else { return }
    if let left = bytesLeft {
      guard bytes.count <= left else { return breakResponse() }
      bytesLeft = left - bytes.count
    }
    submitHead(hasBody: true)
    if outputCount == 0 { lastOutput = connection.now }
    output.append(copying: bytes)
    connection.bufferedBytes += bytes.count
    resume()
  }

  func finish(_ trailers: HeaderFields) {
    guard hasAnswered, bytesLeft ?? 0 == 0 else { return breakResponse() }
    isFinished = true
    if outputCount == 0 { lastOutput = connection.now }
    sentTrailers = trailers
    submitHead(hasBody: !trailers.isEmpty)
    resume()
  }

  func breakResponse() {
    guard !isClosed else { return }
    connection.reset(self, NGHTTP2_INTERNAL_ERROR)
  }

  /// Sends the head, unless it is sent.
  func submitHead(hasBody: Bool) {
    guard let (status, fields) = unsent.take(), !isClosed else { return }
    connection.submit(response: status, fields, nil, hasBody: hasBody, self)
  }

  private var outputCount: Int { output.count - sentCount }

  /// A stream can always hold a little, so that the others cannot stop it.
  private static let leastBytes = 16 << 10

  private var isFull: Bool {
    let limit = connection.port.limits.bufferBytes
    return outputCount >= limit || connection.bufferedBytes >= limit && outputCount >= Self.leastBytes
  }

  var hasRoom: Bool {
    let isFull = isFull
    if isFull {
      waitsForRoom = true
      connection.hasWaiters = true
    }
    return !isFull
  }

  // MARK: What the connection does

  /// Tells the handler that it can send more, if it waits for that. Returns whether it still waits.
  func tellRoom() -> Bool {
    guard waitsForRoom, let stream, !stream.isOver else { return false }
    if isFull { return true }
    waitsForRoom = false
    stream.delegate?.canSend()
    return waitsForRoom
  }

  private func resume() {
    connection.flushLater()
    guard isDeferred, !isClosed else { return }
    isDeferred = false
    connection.resume(self)
  }

  /// The result of a read of the response body.
  enum Piece {
    case bytes(Int, isLast: Bool, trailers: HeaderFields)
    /// The handler has given no more yet.
    case later
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
    let count = min(buffer.count, outputCount)
    if count == 0, !isFinished {
      isDeferred = true
      return .later
    }
    output.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sentCount..<sentCount + count]))
    }
    sentCount += count
    connection.bufferedBytes -= count
    lastOutput = connection.now
    if sentCount == output.count {
      output = []
      sentCount = 0
    } else if sentCount > 65_536, sentCount > output.count / 2 {
      output.removeFirst(sentCount)
      sentCount = 0
    }
    return .bytes(count, isLast: isFinished && output.isEmpty, trailers: sentTrailers)
  }

  /// Answers in place of the handler.
  func refuse(_ status: Int) {
    let stream = stream
    self.stream = nil
    stream?.end()
    guard !isClosed, !hasAnswered else { return }
    let (fields, body) = connection.port.handler.refusal(status)
    respond(status, fields.withDate(), .bytes(body.count), closes: false)
    send(body.span)
    finish(HeaderFields())
  }

  /// Ends waits for the client whose time has passed.
  func check(at now: Instant, limit: UInt64) {
    let isSending = outputCount > 0 || isFinished
    if isSending, now.nanoseconds(since: lastOutput) >= limit { return giveUp() }
    guard !isComplete, isInFlight, stream?.isPaused == false, !expectsContinue,
      now.nanoseconds(since: lastInput) >= limit
    else { return }
    if hasAnswered { giveUp() } else { refuse(408) }
  }

  private func giveUp() {
    let stream = stream
    connection.reset(self, NGHTTP2_CANCEL)
    stream?.end()
  }

  /// nghttp2 has closed the stream.
  func didClose() {
    isClosed = true
    connection.bufferedBytes -= outputCount
    connection.heldBytes -= held.count
    (output, sentCount, held) = ([], 0, [])
    let stream = stream
    self.stream = nil
    stream?.end()
  }
}
