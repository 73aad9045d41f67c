/// An HTTP request as the engine sends it.
public struct Request: Sendable {
  /// A case-sensitive token (RFC 9110 §9.1).
  public var method: String
  /// Where the request goes; the fragment is never sent.
  public var url: HTTPURL
  /// Fields in the order of the wire. The transport leaves out `Content-Length` and fields of the connection (RFC 9110
  /// §7.6.1), and writes its own.
  public var headers: HeaderFields
  /// A stream can be sent only once, so a request with a stream cannot be sent again.
  public var body: Body
  /// The time limit for the whole transaction, including retries; `nil` uses the limit of the configuration.
  public var timeout: Duration?
  /// Fields that the transport must not add by itself. A field in ``headers`` is sent in any case.
  package var omittedDefaults: DefaultFields = []
  /// Whether the result explains, for every header that the engine's stages could set in a hop, why they did or did not
  /// set it.
  public var wantsExplanation = false
  /// Whether the result lists, for every call of a stage, what the stage answered and changed.
  public var wantsJournal = false
  /// Whether the result includes the answers from the wire, so that the request can be replayed.
  public var wantsRecording = false
  /// Whether the recording is a sample, which is kept in memory and has no large bodies.
  package var isSample = false
  /// The connection on which a server of this process has received the request; nil for a request that was made here.
  ///
  /// The method, the headers and the trailers of a received request have passed the checks of ``validate()``, and no
  /// field belongs to a connection.
  package var client: ConnectionFacts?
  /// The ``trailers`` and the ``options``, behind one reference: few requests have any.
  private var extras: SharedValue<Extras>?

  /// Only the URL is required. Method, headers and body are checked when the request begins.
  public init(
    method: String = "GET", url: HTTPURL, headers: HeaderFields = HeaderFields(), body: Body = .empty,
    timeout: Duration? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }

  /// Releases everything that can be large or secret. The request cannot be sent afterwards.
  package mutating func removeContent() {
    url = Self.removedURL
    headers = HeaderFields()
    body = .empty
    client = nil
    if extras != nil { extras = nil }
  }

  private static let removedURL: HTTPURL = "http://localhost/"

  /// Checks the method, every header, including `Host`, and the trailers; the URL was checked when it was created.
  package func validate() throws(MessageError) {
    if client != nil { return }
    try Self.check(method: method.utf8.span)
    try headers.validate()
    try headers.validateHost()
    if hasTrailers { try validateTrailers() }
  }

  /// Checks a method: a token, and not `CONNECT`, which asks a proxy for a tunnel and has no URL (RFC 9110 §9.3.6). It
  /// is refused in upper and lower case, since some servers ignore the case.
  package static func check(method: Span<UInt8>) throws(MessageError) {
    guard FieldSyntax.isToken(method) else {
      throw MessageError(
        .invalidMethod, "method \(PlainText.quote(method))", "not a token, such as GET or POST")
    }
    guard !FieldSyntax.equals(method, "connect") else {
      throw MessageError(
        .invalidMethod, "method \(PlainText.quote(method))",
        "it opens a tunnel and is not a request; to send requests through a proxy, set \"transport.proxy\"")
    }
  }
}

extension Request {
  private struct Extras: Sendable, Hashable {
    var trailers: SharedValue<HeaderFields>?
    var options: SharedValue<RequestOptions>?
  }

  /// Nil if there are no trailers; never an empty list.
  package var sharedTrailers: SharedValue<HeaderFields>? {
    get { extras?.value.trailers }
    set { setExtras { $0.trailers = newValue } }
  }

  /// Nil for the default options.
  package var sharedOptions: SharedValue<RequestOptions>? {
    get { extras?.value.options }
    set { setExtras { $0.options = newValue } }
  }

  private mutating func setExtras(_ change: (inout Extras) -> Void) {
    var changed = extras?.value ?? Extras()
    change(&changed)
    extras = changed.trailers == nil && changed.options == nil ? nil : SharedValue(changed)
  }
}
