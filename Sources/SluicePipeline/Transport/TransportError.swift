package import SluiceMessages

/// Why a hop got no whole response.
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
    /// The peer closed or reset before the response was whole.
    package static let connectionLost = Code("connection_lost")
    /// What came is not HTTP.
    package static let invalidResponse = Code("invalid_response")
    package static let requestTooLarge = Code("request_too_large")
    package static let responseTooLarge = Code("response_too_large")
    /// The content coding could not be undone.
    package static let decoding = Code("decoding")
    package static let cancelled = Code("cancelled")
    /// libcurl was about to send the request a second time without being asked.
    package static let resent = Code("resent")
    /// The server vouches that it did not process the request (RFC 9113 §8.7).
    package static let notProcessed = Code("not_processed")
    /// A body could not be read, or a collected one not written.
    package static let bodyFile = Code("body_file")
    /// No descriptor, no memory, no thread.
    package static let resources = Code("resources")
    /// A function of an event loop was called on a thread that must not call it.
    package static let wrongThread = Code("wrong_thread")
    package static let transport = Code("transport")
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
  package init(_ code: Code, _ message: String, to url: HTTPURL? = nil, isBeforeSending: Bool = false) {
    parts = SharedValue(
      Parts(code: code, subject: url?.origin.description, reason: message, isBeforeSending: isBeforeSending))
  }

  /// The kind of failure.
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
  package func naming(_ url: String) -> TransportError {
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

  /// `connect: https://api.example.com: reason`: the code, what the request was for, and the reason.
  public var description: String { "\(code.text): \(message)" }
}
