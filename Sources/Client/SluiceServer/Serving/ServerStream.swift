import Glibc
package import SluiceHTTP1
package import SluiceMessages

/// Gets the requests of a server.
package protocol ServerHandler: AnyObject, Sendable {
  /// A request has begun. Its body has not been read. The handler must set the stream's delegate, or answer. [loop]
  func handle(_ stream: ServerStream)

  /// Describes the answer to a request that is not handed over, because its head or its framing is not valid, or because
  /// it has not arrived in time. By default, the body is the status as text. [loop]
  func refusal(_ status: Int) -> (fields: HeaderFields, body: [UInt8])
}

extension ServerHandler {
  package func refusal(_ status: Int) -> (fields: HeaderFields, body: [UInt8]) {
    (["Content-Type": "text/plain"], Array("\(status) \(SentResponseHead.reason(of: status))\n".utf8))
  }
}

extension HeaderFields {
  /// The fields of a response with a date, which every final response needs (RFC 9110 §6.6.1).
  func withDate() -> HeaderFields {
    guard !contains("date") else { return self }
    var fields = self
    fields.append("Date", HTTPDate(secondsSince1970: Int64(time(nil))).description)
    return fields
  }
}

/// Gets what the client of one request does. All functions are called on the loop of the stream.
package protocol ServerStreamDelegate: AnyObject {
  /// A piece of the request's body. [loop]
  func receive(_ bytes: Span<UInt8>)

  /// The body is complete. [loop]
  func receiveEnd(_ trailers: HeaderFields)

  /// The client sends nothing more. It still reads the response, or it is gone. [loop]
  func clientHalfClosed()

  /// Nobody waits for the response any more. The stream calls nothing after this. [loop]
  func cancel()

  /// The client has taken so much that there is room for more of the response. [loop]
  func canSend()
}

/// The head of a request.
package struct ServerRequestHead: Sendable {
  package let method: String
  package let target: String
  package let form: RequestTarget.Form
  package let version: HTTPVersion
  /// The host of an absolute target, or else the value of `Host`; nil if there is none.
  package let host: String?
  package let fields: HeaderFields
  package let body: RequestFraming.Body
  package let hasUpgrade: Bool
}

/// What a stream needs from its connection. Only the loop uses it.
protocol ServerStreamCarrier: AnyObject {
  /// The socket, if it carries only this stream, and its bytes as they are.
  var ownDescriptor: Int32? { get }
  var memo: AnyObject? { get set }
  /// Whether a handler should send more of its response now.
  var hasRoom: Bool { get }

  /// The handler takes the body from now on.
  func readBody()
  func sendInformational(_ status: Int, _ fields: HeaderFields)
  func respond(_ status: Int, _ fields: HeaderFields, _ length: ServerStream.Length, closes: Bool)
  func send(_ bytes: Span<UInt8>)
  func finish(_ trailers: HeaderFields)
  /// Ends the response so that the client sees an error.
  func breakResponse()
}

/// One request of a client, and the response to it. Only its loop uses it.
package final class ServerStream {
  /// The length of the body of a response.
  package enum Length: Sendable, Hashable {
    case bytes(Int)
    case unknown
  }

  package let head: ServerRequestHead
  package let client: ConnectionFacts
  /// Must be set before the handler returns, unless it has answered. The stream keeps it until it is over.
  package var delegate: (any ServerStreamDelegate)?
  /// Called once: before the first byte of the response, apart from informational ones, or when the stream ends without a
  /// response.
  package var onAnswer: (() -> Void)?
  /// Nil when the stream has ended.
  private var carrier: (any ServerStreamCarrier)?
  /// Whether the handler takes no bytes of the request's body for now.
  private(set) var isPaused = true
  /// Whether the head of the response was given.
  package private(set) var hasAnswered = false

  init(_ head: ServerRequestHead, from client: ConnectionFacts, on carrier: any ServerStreamCarrier) {
    self.head = head
    self.client = client
    self.carrier = carrier
  }

  /// The socket of the client; nil if other streams share it, with TLS, and if the stream is over.
  package var descriptor: Int32? { carrier?.ownDescriptor }

  /// Whether the stream has ended, for the handler or for the client.
  package var isOver: Bool { carrier == nil }

  /// What the handler keeps for the other requests of this connection.
  package var memo: AnyObject? {
    get { carrier?.memo }
    set { carrier?.memo = newValue }
  }

  /// Takes the body from now on, or again after ``pause()``.
  package func readBody() {
    guard isPaused, let carrier else { return }
    isPaused = false
    carrier.readBody()
  }

  /// Takes no further bytes of the body for now, except for those that have arrived already.
  package func pause() { isPaused = true }

  /// Sends an informational response, if the client understands it (RFC 9110 §15.2).
  /// - Parameter status: from 100 to 199, not 101.
  package func sendInformational(_ status: Int, _ fields: HeaderFields) {
    guard !hasAnswered, head.version != .http10 else { return }
    carrier?.sendInformational(status, fields)
  }

  /// Begins the response. Fields that frame a message or belong to one connection are left out, and a missing `Date` is
  /// added.
  /// - Parameters:
  ///   - status: from 200 to 999.
  ///   - length: of the body, also if the answer to a HEAD leaves it out.
  ///   - closes: whether the connection ends with this response; in HTTP/2, when the other requests are answered too.
  package func respond(_ status: Int, _ fields: HeaderFields, _ length: Length, closes: Bool = false) {
    guard !hasAnswered, (200...999).contains(status) else { return }
    hasAnswered = true
    tellAnswer()
    carrier?.respond(status, fields.withDate(), length, closes: closes)
  }

  /// Sends a piece of the body. More than ``ServerLimits/bufferBytes`` can be given, but a handler should wait for
  /// ``ServerStreamDelegate/canSend()`` if ``hasRoom`` is false.
  package func send(_ bytes: Span<UInt8>) { carrier?.send(bytes) }

  package var hasRoom: Bool { carrier?.hasRoom ?? true }

  /// Ends the response. The stream is over then.
  package func finish(trailers: HeaderFields = HeaderFields()) { take()?.finish(trailers) }

  /// Breaks the response off, because it cannot be completed. The client sees an error, and not the end of the response.
  package func fail() { take()?.breakResponse() }

  /// Ends the stream, and returns its carrier.
  private func take() -> (any ServerStreamCarrier)? {
    tellAnswer()
    defer { (carrier, delegate) = (nil, nil) }
    return carrier
  }

  private func tellAnswer() {
    guard let tell = onAnswer.take() else { return }
    tell()
  }

  /// Called by the connection when the stream has no client any more.
  func end() {
    let delegate = self.delegate
    if take() != nil { delegate?.cancel() }
  }
}
