import CNGHTTP2
import Glibc
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The errors of this transport: what failed, why, and what to do.
enum TransportFailure {
  static func name(_ origin: Origin, _ error: NameError) -> TransportError {
    make(
      .nameLookup, "cannot resolve \(PlainText.quote(origin.lookUpName)): \(error.advice)", origin,
      isBeforeSending: true)
  }

  /// A phrase for the addresses that the settings allow.
  static func kind(_ settings: TransportSettings) -> String {
    switch settings.sockets.family {
    case .any: "address that a socket takes"
    case .ipv4: "IPv4 address"
    case .ipv6: "IPv6 address"
    }
  }

  static func withoutAddress(_ origin: Origin, _ settings: TransportSettings) -> TransportError {
    if let path = settings.unixSocket {
      let reason = "no connection: \(PlainText.path(path)) is too long for the path of a Unix socket, or empty"
      return make(.connect, reason + "; see \(settings.names.unixSocket)", origin, isBeforeSending: true)
    }
    let kind = kind(settings)
    if SystemNames.isAddress(origin.host) {
      return make(.connect, "no connection: \(origin.host) is not an \(kind)", origin, isBeforeSending: true)
    }
    return make(
      .nameLookup, "cannot resolve \(PlainText.quote(origin.lookUpName)): the name has no \(kind)", origin,
      isBeforeSending: true)
  }

  static func socket(_ origin: Origin, _ code: Int32) -> TransportError {
    // If a plugin has closed the descriptor of the epoll, another file can have its number by now: EINVAL.
    let advice = SystemError.advice(code == EINVAL ? EBADF : code)
    return make(.resources, "no socket: \(SystemError.text(code))\(advice)", origin, isBeforeSending: true)
  }

  /// The socket could not be bound to the configured interface or local address.
  static func source(_ origin: Origin, _ source: SocketSettings.Source, _ code: Int32) -> TransportError {
    let name =
      switch source {
      case .interface(let name): "the interface \(PlainText.quote(name))"
      case .address(let address): "the local address \(PlainText.quote(address))"
      }
    return make(
      .connect, "no connection through \(name): \(SystemError.text(code)); name one that this machine has", origin,
      isBeforeSending: true)
  }

  static func connect(_ origin: Origin, _ address: SocketAddress, _ code: Int32) -> TransportError {
    let places = address.family == AF_UNIX ? "the path of the socket" : "host and port"
    return make(
      .connect,
      "no connection to \(PlainText.path(address.text)): \(SystemError.text(code)); check \(places), and that the server"
        + " runs", origin, isBeforeSending: true)
  }

  /// The proxy could not be reached, or has refused.
  static func proxy(_ origin: Origin, _ reason: String, _ names: SettingNames) -> TransportError {
    make(.proxy, reason + names.proxyAdvice, origin, isBeforeSending: true)
  }

  /// A phrase for a proxy that has ended the connection.
  static func proxyLost(_ failure: TLSFailure?, _ code: Int32) -> String {
    let reason = failure?.detail ?? (code == 0 ? "" : SystemError.text(code))
    return "it closed the connection before it connected to the server" + (reason.isEmpty ? "" : ": \(reason)")
  }

  /// nghttp2 did not accept a request.
  ///
  /// - Parameter code: nghttp2's error.
  static func stream(_ origin: Origin, _ code: Int32) -> TransportError {
    let reason = nghttp2_strerror(code).map { String(cString: $0) } ?? "error \(code)"
    return make(.resources, "no stream of HTTP/2: \(reason)", origin, isBeforeSending: true)
  }

  /// nghttp2 cannot write the fields of a request.
  static func headTooLarge(_ origin: Origin, isBeforeSending: Bool) -> TransportError {
    make(
      .requestTooLarge,
      "the fields of the request are larger than the 1 MiB that a request over HTTP/2 can have; shorten them",
      origin, isBeforeSending: isBeforeSending)
  }

  /// - Parameter missing: says which step has not ended.
  static func connectTimeout(_ origin: Origin, _ settings: TransportSettings, _ missing: String) -> TransportError {
    let reason = "\(missing) within \(settings.connectTimeout) (\(settings.names.connectTimeout))"
    return make(.connectTimeout, reason, origin, isBeforeSending: true)
  }

  /// - Parameter sender: who sent the response, if it is not the server.
  static func invalid(_ violation: MessageViolation, _ origin: Origin, from sender: String? = nil) -> TransportError {
    make(.invalidResponse, violation.explanation + (sender.map { "; it comes from \($0)" } ?? ""), origin)
  }

  /// The error for a connection that broke while it carried a request.
  ///
  /// - Parameters:
  ///   - failure: the failure that TLS reports, if there is one.
  ///   - code: the system's error; 0 if the peer closed the connection.
  ///   - proxy: who may have closed the connection, with a proxy on the way; nil if only the server may have.
  ///   - hasBytes: whether a byte of the response has arrived.
  ///   - hasHead: whether the head of the response has arrived.
  static func lost(
    _ origin: Origin, _ failure: TLSFailure?, _ code: Int32, through proxy: String?, hasBytes: Bool, hasHead: Bool,
    isBeforeSending: Bool
  ) -> TransportError {
    let reason =
      failure?.isTruncation == true
      ? "closed without the end of TLS (close_notify), so a part might be missing"
      : failure?.detail
        ?? (code == 0
          ? "closed by \(proxy ?? "the server")" : SystemError.text(code) + (proxy.map { ": \($0)" } ?? ""))
    let error = lost(origin, because: reason, through: proxy, hasHead: hasHead, isBeforeSending: isBeforeSending)
    return code == 0 && !hasBytes && !hasHead ? error.with(.noResponse) : error
  }

  /// The error for a connection that ended while it carried a request.
  static func lost(
    _ origin: Origin, because reason: String, through proxy: String? = nil, hasHead: Bool, isBeforeSending: Bool
  ) -> TransportError {
    let moment = hasHead ? "in the middle of the response" : "before the response"
    let log = proxy == nil ? "the server's log" : "its log"
    return make(
      .connectionLost, "the connection broke \(moment): \(reason); \(log) might say why", origin,
      isBeforeSending: isBeforeSending
    ).with(hasHead ? .partialResponse : nil)
  }

  /// The TLS connection could not be made.
  ///
  /// - Parameter proxy: the proxy through which the connection leads; nil if there is none.
  static func tls(
    _ origin: Origin, _ failure: TLSFailure, _ settings: TransportSettings, through proxy: Proxy? = nil
  ) -> TransportError {
    if let refusal = refusal(origin, failure, settings, isBeforeSending: true) { return refusal }
    if failure.moment == .ownCertificate, let chosen = failure.chosenCertificate {
      let reason =
        "the client certificate \(PlainText.path(chosen)) that the delegate chose cannot be used: \(failure.detail); it must"
        + " name a PEM file, and its key one that fits and has no password"
      return make(.tls, reason, origin, isBeforeSending: true)
    }
    let advice = TLSAdvice(failure.detail, settings).advice(at: failure.moment)
    let detail: TransportError.Detail? =
      switch failure.moment {
      case .verification: .certificate
      case .publicKey: .publicKey
      case .ownCertificate: .ownCertificate
      default: nil
      }
    let way = proxy.map { " (through the proxy \($0.name))" } ?? ""
    return make(.tls, failure.detail + way + advice, origin, isBeforeSending: true).with(detail)
  }

  /// The files or the ciphers of the settings cannot be used for TLS.
  static func files(_ failure: TLSFailure, _ settings: TransportSettings) -> TransportError {
    let names: [String?] =
      switch failure.moment {
      case .authorities: [settings.tls.ca.map(PlainText.path)]
      case .ciphers: [settings.tls.ciphers.tls12, settings.tls.ciphers.tls13].map { $0.map { PlainText.quote($0) } }
      default: [settings.tls.certificate, settings.tls.key].map { $0.map(PlainText.path) }
      }
    let used = names.compactMap(\.self).joined(separator: " and ")
    let advice = TLSAdvice(failure.detail, settings).advice(at: failure.moment)
    return TransportError(.tls, "cannot use \(used): \(failure.detail)\(advice)", isBeforeSending: true)
      .with(failure.moment == .ownCertificate ? .ownCertificate : nil)
  }

  /// Returns the error for a client certificate that the server does not accept; nil for other failures. In TLS 1.3, a
  /// server says this only after the handshake.
  static func refusal(
    _ origin: Origin, _ failure: TLSFailure, _ settings: TransportSettings, isBeforeSending: Bool = false
  ) -> TransportError? {
    var settings = settings
    if let chosen = failure.chosenCertificate { settings.tls.certificate = chosen }
    return TLSAdvice(failure.detail, settings).clientCertificateRefusal.map {
      make(.tls, $0, origin, isBeforeSending: isBeforeSending)
    }
  }

  /// The server rejects the `Expect` that this side has added. It has not processed the request.
  static func expectation(_ origin: Origin) -> TransportError {
    make(
      .notProcessed, "the server refuses the field Expect (417), and did not process the request", origin,
      isBeforeSending: true)
  }

  /// The server wants the request over HTTP/1.1, and has not processed it (RFC 9113 §7).
  static func downgraded(_ origin: Origin) -> TransportError {
    make(
      .notProcessed,
      "the server accepts this request only over HTTP/1.1 (HTTP_1_1_REQUIRED), and gets further requests over HTTP/1.1",
      origin, isBeforeSending: true)
  }

  /// The server has allowed no streams, and has ended the connection.
  static func withoutStreams(_ origin: Origin) -> TransportError {
    make(
      .notProcessed, "the server has closed a connection of HTTP/2 without allowing any stream on it", origin,
      isBeforeSending: true)
  }

  /// A kept connection broke before the first byte of the response.
  /// - Parameter cause: why this side has ended the connection; nil if the server has.
  static func resent(
    _ origin: Origin, _ method: String, because cause: String? = nil, isBeforeSending: Bool
  ) -> TransportError {
    let why = cause.map { " (\($0))" } ?? ""
    let reason =
      isBeforeSending
      ? "the kept connection broke before the \(method) was sent\(why)"
      : "the kept connection broke before the response to the \(method)\(why); it is not known whether the server"
        + " executed it"
    return make(.resent, reason, origin, isBeforeSending: isBeforeSending)
  }

  private static func make(
    _ code: ErrorCode, _ reason: String, _ origin: Origin, isBeforeSending: Bool = false
  ) -> TransportError {
    TransportError(code, reason, to: origin, isBeforeSending: isBeforeSending)
  }
}
