/// Why a hop got no whole response.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure; an extensible set. The text is what results and metrics show.
  public struct Code: Sendable, Hashable {
    public let text: String
    public init(_ text: String) { self.text = text }

    public static let nameLookup = Code("dns")
    public static let connect = Code("connect")
    public static let tls = Code("tls")
    public static let proxy = Code("proxy")
    public static let timeout = Code("timeout")
    public static let connectTimeout = Code("connect_timeout")
    /// The peer closed or reset before the response was whole.
    public static let connectionLost = Code("connection_lost")
    /// What came is not HTTP.
    public static let invalidResponse = Code("invalid_response")
    public static let requestTooLarge = Code("request_too_large")
    public static let responseTooLarge = Code("response_too_large")
    /// The content coding could not be undone.
    public static let decoding = Code("decoding")
    public static let cancelled = Code("cancelled")
    /// The library was about to send the request a second time without being asked.
    public static let resent = Code("resent")
    /// The server vouches that it did not process the request (RFC 9113 §8.7).
    public static let notProcessed = Code("not_processed")
    /// A body could not be read, or a collected one not written.
    public static let bodyFile = Code("body_file")
    /// No descriptor, no memory, no thread.
    public static let resources = Code("resources")
    public static let transport = Code("transport")
  }

  /// Behind one reference: every transfer has room for an error, and few have one.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: Code
    var message: String
    var isBeforeSending: Bool
  }

  public init(_ code: Code, _ message: String, isBeforeSending: Bool = false) {
    parts = SharedValue(Parts(code: code, message: message, isBeforeSending: isBeforeSending))
  }

  public var code: Code {
    get { parts.value.code }
    set { parts.value.code = newValue }
  }

  /// What failed, why and, where there is something, what to do.
  public var message: String {
    get { parts.value.message }
    set { parts.value.message = newValue }
  }

  /// Whether the server has done nothing with the request, so that sending it again repeats nothing: no byte of it can have
  /// arrived, or the server vouches that it processed none.
  public var isBeforeSending: Bool {
    get { parts.value.isBeforeSending }
    set { parts.value.isBeforeSending = newValue }
  }

  public var description: String { "\(code.text): \(message)" }
}
