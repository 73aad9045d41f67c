public import SluiceMessages

/// A server's request for a client certificate, on a new connection whose server is already trusted.
public struct ClientCertificateRequest: Sendable, Hashable {
  /// The host of the URL.
  public let host: String
  /// The port of the URL.
  public let port: UInt16
  /// The names of the authorities that the server accepts, each as DER (X.501 Name); empty if it names none.
  public let authorities: [[UInt8]]

  package init(host: String, port: UInt16, authorities: [[UInt8]]) {
    self.host = host
    self.port = port
    self.authorities = authorities
  }
}

/// What a delegate decides about a server's request for a client certificate.
public enum ClientCertificateDecision: Sendable, Hashable {
  /// The certificate of the request's options or of the settings is sent; no certificate if neither has one.
  case performDefaultHandling
  /// This certificate is sent.
  case use(RequestOptions.Identity)
  /// No connection is made, and the transaction fails.
  case cancel
}
