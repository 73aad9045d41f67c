public import SluiceMessages

/// Why a hop got no complete response.
public struct TransportError: DescribedError, Sendable, Hashable {
  /// Stored behind one reference: every transfer has room for an error, and few have one.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: ErrorCode
    var subject: String?
    var reason: String
    var isBeforeSending: Bool
    var detail: Detail?
  }

  /// What exactly happened, for codes that have several causes.
  package enum Detail: Sendable, Hashable {
    /// With `tls`: the server's certificate is not trusted.
    case certificate
    /// With `tls`: the server's public key is not among the keys that the settings name.
    case publicKey
    /// With `tls`: the client certificate or its key cannot be used.
    case ownCertificate
    /// With `connection_lost`: no byte of the response had arrived.
    case noResponse
    /// With `connection_lost`: the head of the response had arrived.
    case partialResponse
    /// With `proxy`: its name cannot be resolved.
    case proxyName
    /// With `proxy`: its certificate is not trusted.
    case proxyCertificate
    /// With `proxy`: the TLS handshake with it fails in another way.
    case proxyTLS
    /// With `proxy`: an HTTP proxy opens no tunnel to the server.
    case tunnel
    /// With `proxy`: a SOCKS proxy does not connect to the server.
    case socks
  }

  /// - Parameters:
  ///   - message: what failed, why and what to do; without the URL.
  ///   - url: the URL of the failed request. The message names only its origin: a transport does not know which parts
  ///     of a URL are secret.
  package init(_ code: ErrorCode, _ message: String, to url: HTTPURL? = nil, isBeforeSending: Bool = false) {
    parts = SharedValue(
      Parts(code: code, subject: url?.origin.description, reason: message, isBeforeSending: isBeforeSending))
  }

  package init(_ code: ErrorCode, _ message: String, to origin: Origin, isBeforeSending: Bool = false) {
    parts = SharedValue(
      Parts(code: code, subject: origin.description, reason: message, isBeforeSending: isBeforeSending))
  }

  /// The kind of failure.
  public var code: ErrorCode {
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
  /// server has stated that it did not process the request.
  public var isBeforeSending: Bool {
    get { parts.value.isBeforeSending }
    set { parts.value.isBeforeSending = newValue }
  }

  /// Nil if nothing more is known.
  package var detail: Detail? {
    get { parts.value.detail }
    set { parts.value.detail = newValue }
  }

  /// The same error with a detail.
  package func with(_ detail: Detail?) -> TransportError {
    var error = self
    error.detail = detail
    return error
  }

  /// `connect: https://api.example.com: reason`: the code, what the request was for, and the reason.
  public var description: String { "\(code): \(message)" }
}
