package import SluiceMessages

/// Why a hop got no complete response.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure; an extensible set. The text is what results and metrics show.
  public struct Code: Sendable, Hashable {
    /// The code for programs, such as `connect_timeout`; also ``TransactionError/code`` of a transaction that it ends.
    public let text: String
    package init(_ text: String) { self.text = text }

    package static let nameLookup = Code("dns")
    package static let connect = Code("connect")
    package static let tls = Code("tls")
    package static let proxy = Code("proxy")
    package static let timeout = Code("timeout")
    package static let connectTimeout = Code("connect_timeout")
    /// The peer closed or reset the connection before the response was complete.
    package static let connectionLost = Code("connection_lost")
    /// The received data is not HTTP.
    package static let invalidResponse = Code("invalid_response")
    package static let requestTooLarge = Code("request_too_large")
    package static let responseTooLarge = Code("response_too_large")
    /// The body could not be decoded.
    package static let decoding = Code("decoding")
    package static let cancelled = Code("cancelled")
    /// libcurl was about to send the request a second time without being asked.
    package static let resent = Code("resent")
    /// The server has stated that it did not process the request (RFC 9113 §8.7).
    package static let notProcessed = Code("not_processed")
    /// A body could not be read, or a collected one not written.
    package static let bodyFile = Code("body_file")
    /// The process lacks a descriptor, memory or a thread.
    package static let resources = Code("resources")
    /// A function of an event loop was called on a thread that must not call it.
    package static let wrongThread = Code("wrong_thread")
    package static let transport = Code("transport")
  }

  /// Stored behind one reference: every transfer has room for an error, but few have one.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: Code
    var subject: String?
    var reason: String
    var isBeforeSending: Bool
  }

  /// - Parameters:
  ///   - message: what failed, why and what to do; without the URL.
  ///   - url: the URL of the failed request. The message names only its origin: a transport does not know which parts
  ///     of a URL are secret.
  package init(_ code: Code, _ message: String, to url: HTTPURL? = nil, isBeforeSending: Bool = false) {
    parts = SharedValue(
      Parts(code: code, subject: url?.origin.description, reason: message, isBeforeSending: isBeforeSending))
  }

  /// The kind of failure.
  public var code: Code {
    get { parts.value.code }
    set { parts.value.code = newValue }
  }

  /// What failed, why and, if known, what to do. Begins with the URL or the origin of the request.
  public var message: String {
    let parts = parts.value
    return parts.subject.map { "\($0): \(parts.reason)" } ?? parts.reason
  }

  /// The same error with a whole URL in place of the origin; the caller must have hidden the secrets in it.
  package func naming(_ url: String) -> TransportError {
    var error = self
    if error.parts.value.subject != nil { error.parts.value.subject = url }
    return error
  }

  /// Whether sending the request again cannot repeat an effect: no byte of it can have reached the server, or the
  /// server has stated that it did not process it.
  public var isBeforeSending: Bool {
    get { parts.value.isBeforeSending }
    set { parts.value.isBeforeSending = newValue }
  }

  /// `connect: https://api.example.com: reason`: the code, the URL or origin of the request, and the reason.
  public var description: String { "\(code.text): \(message)" }
}
