public import SluiceMessages

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
    /// libcurl was about to send the request a second time without being asked.
    public static let resent = Code("resent")
    /// The server vouches that it did not process the request (RFC 9113 §8.7).
    public static let notProcessed = Code("not_processed")
    /// A body could not be read, or a collected one not written.
    public static let bodyFile = Code("body_file")
    /// No descriptor, no memory, no thread.
    public static let resources = Code("resources")
    /// A function of an event loop was called on a thread that must not call it.
    public static let wrongThread = Code("wrong_thread")
    public static let transport = Code("transport")
  }

  /// Behind one reference: every transfer has room for an error, and few have one.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: Code
    var subject: String?
    var reason: String
    var isBeforeSending: Bool
  }

  /// - Parameters:
  ///   - message: what failed, why and what to do; without the URL.
  ///   - url: what the failed request was for. The message names only its origin: a transport does not know which parts
  ///     of a URL are secret.
  public init(_ code: Code, _ message: String, to url: HTTPURL? = nil, isBeforeSending: Bool = false) {
    parts = SharedValue(
      Parts(code: code, subject: url?.origin.description, reason: message, isBeforeSending: isBeforeSending))
  }

  public var code: Code {
    get { parts.value.code }
    set { parts.value.code = newValue }
  }

  /// What failed, why and, where there is something, what to do; begins with what the request was for.
  public var message: String {
    let parts = parts.value
    return parts.subject.map { "\($0): \(parts.reason)" } ?? parts.reason
  }

  /// The same error with a whole URL in place of the origin; the caller has hidden what is secret in it.
  public func naming(_ url: String) -> TransportError {
    var error = self
    if error.parts.value.subject != nil { error.parts.value.subject = url }
    return error
  }

  /// Whether the server has done nothing with the request, so that sending it again repeats nothing: no byte of it can have
  /// arrived, or the server vouches that it processed none.
  public var isBeforeSending: Bool {
    get { parts.value.isBeforeSending }
    set { parts.value.isBeforeSending = newValue }
  }

  public var description: String { "\(code.text): \(message)" }
}
