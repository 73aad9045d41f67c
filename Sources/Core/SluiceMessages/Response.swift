/// An HTTP response as the stages and the caller see it.
public struct Response: Sendable {
  /// The final status code, 200–999; informational responses are events, not responses.
  public var status: Int
  /// The fields as the server sent them: `content-encoding` and `content-length` describe the body before it was
  /// decoded.
  public var headers: HeaderFields
  /// The body; it is in a file if it was too large for memory.
  public var body: Body
  /// Nil if there are no trailers: few responses have any, and every copy of a response copies this member.
  ///
  /// The type is not written with `?`, because Swift would then set the member to nil first, and the initializer would
  /// copy the whole response.
  private var sharedTrailers: Optional<SharedValue<HeaderFields>>
  /// The protocol version of the server; `nil` if a stage made the response.
  public var version: HTTPVersion?

  /// Only the status is required. Nothing is checked. A response without a version counts as made by a stage.
  public init(
    status: Int, headers: HeaderFields = HeaderFields(), body: Body = .empty,
    trailers: HeaderFields = HeaderFields(), version: HTTPVersion? = nil
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.version = version
    sharedTrailers = trailers.isEmpty ? nil : SharedValue(trailers)
  }

  /// Fields that came after the body (RFC 9110 §6.5).
  public var trailers: HeaderFields {
    get { sharedTrailers.fields }
    set { sharedTrailers.fields = newValue }
    _modify { yield &sharedTrailers.fields }
  }
}

/// A version of HTTP, spelled as OpenTelemetry's `network.protocol.version`.
public enum HTTPVersion: String, Sendable, Hashable {
  case http10 = "1.0"
  case http11 = "1.1"
  case http2 = "2"
  case http3 = "3"
}

extension HTTPVersion: CustomStringConvertible {
  /// `HTTP/1.1`.
  public var description: String { "HTTP/\(rawValue)" }
}
