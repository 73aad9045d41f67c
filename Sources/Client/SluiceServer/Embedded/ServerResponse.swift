/// The answer of a handler: a response, the promise of a response, or only a closed connection.
public struct ServerResponse: Sendable {
  /// The content of a response: bytes in memory, or a pattern that is made while it is sent.
  public enum Body: Sendable {
    case bytes([UInt8])
    /// A body that is made while it is sent, so that its size costs no memory. `chunked` hides the length from the
    /// client.
    case generated(BytePattern, byteCount: UInt64, chunked: Bool)
  }

  enum Form: Sendable {
    case answer
    case deferred(@Sendable (DeferredResponse) -> Void)
    case hangUp
  }

  /// The status, from 200 to 999. Any other status is sent as 500.
  public var status: Int
  /// The headers, sent in this order. The server adds `Date`, and `Content-Length` or `Transfer-Encoding`.
  public var headers: [HeaderLine]
  /// The body, which is sent unchanged, without a content coding.
  public var body: Body
  /// The trailer fields, which are sent only after a chunked body.
  public var trailers: [HeaderLine]
  let form: Form

  /// A response that is sent as soon as the handler returns it.
  public init(status: Int = 200, headers: [HeaderLine] = [], body: Body = .bytes([]), trailers: [HeaderLine] = []) {
    self.init(status: status, headers: headers, body: body, trailers: trailers, form: .answer)
  }

  private init(status: Int, headers: [HeaderLine], body: Body, trailers: [HeaderLine], form: Form) {
    self.status = status
    self.headers = headers
    self.body = body
    self.trailers = trailers
    self.form = form
  }

  /// Returns a response with the text in UTF-8, and `type` as its `Content-Type`.
  public static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8") -> Self {
    .init(status: status, headers: [HeaderLine("Content-Type", type)], body: .bytes(Array(text.utf8)))
  }

  /// Parks the connection, which takes no thread, and calls `start` once. The answer is sent when any thread completes
  /// the ``DeferredResponse`` that `start` gets. If the client disconnects before, the server notices it only then.
  public static func deferred(_ start: @escaping @Sendable (DeferredResponse) -> Void) -> Self {
    .init(status: 0, headers: [], body: .bytes([]), trailers: [], form: .deferred(start))
  }

  /// Closes the connection without a byte of response.
  public static let hangUp = Self(status: 0, headers: [], body: .bytes([]), trailers: [], form: .hangUp)
}
