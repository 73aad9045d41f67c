import SluiceMessages

/// The certificate of a server to which a new connection is being made.
public struct ServerTrust: Sendable, Hashable {
  /// The host of the URL.
  public let host: String
  /// The port of the URL.
  public let port: UInt16
  /// The certificates that the server sent, each as DER. The first one is the server's own certificate.
  public let certificates: [[UInt8]]
  /// SHA-256 of the SubjectPublicKeyInfo of the server's own certificate, as pins name keys (RFC 7469 §2.4).
  public let keyHash: [UInt8]
  /// Why the certificate is not valid for the host and the trusted authorities; nil if it is valid.
  public let failure: String?

  package init(host: String, port: UInt16, certificates: [[UInt8]], keyHash: [UInt8], failure: String?) {
    self.host = host
    self.port = port
    self.certificates = certificates
    self.keyHash = keyHash
    self.failure = failure
  }
}

extension ServerTrust: CustomStringConvertible {
  /// One line for people to read: `example.com:443, key hash lT4…=, valid`. The hash is in Base64, as tools print it.
  public var description: String {
    let hash = String(decoding: Base64.encode(keyHash), as: UTF8.self)
    return "\(host):\(port), key hash \(hash), \(failure.map { "not valid: \($0)" } ?? "valid")"
  }
}

/// What a delegate decides about the certificate of a server.
public enum ServerTrustDecision: Sendable, Hashable {
  /// The connection is made if ``ServerTrust/failure`` is nil.
  case performDefaultHandling
  /// The connection is made, even if ``ServerTrust/failure`` is not nil.
  case accept
  /// No connection is made, and the transaction fails.
  case refuse
}
