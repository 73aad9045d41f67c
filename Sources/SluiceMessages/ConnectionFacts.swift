/// What is known of the connection of a hop. What a transport does not know is nil.
public struct ConnectionFacts: Sendable, Hashable {
  public struct Address: Sendable, Hashable {
    /// In numbers, without brackets.
    public var host: String
    public var port: Int

    public init(host: String, port: Int) {
      self.host = host
      self.port = port
    }
  }

  /// Of a connection over TLS.
  public struct Security: Sendable, Hashable {
    /// `TLSv1.3`, as OpenSSL names it.
    public var version: String
    /// `TLS_AES_256_GCM_SHA384`, as OpenSSL names it.
    public var cipher: String
    /// The server's own certificate as DER; empty if it sent none.
    public var certificate: [UInt8]

    public init(version: String, cipher: String, certificate: [UInt8]) {
      self.version = version
      self.cipher = cipher
      self.certificate = certificate
    }
  }

  /// Not used for another connection of the process.
  public var id: UInt64?
  /// Whether an earlier request had the connection, or has it still (HTTP/2).
  public var isReused: Bool?
  /// Known with the head of the response.
  public var version: HTTPVersion?
  /// The server, or the proxy that the connection goes to.
  public var peer: Address?
  public var local: Address?
  public var isSecure: Bool?
  /// Nil without TLS, and where the TLS library does not tell.
  public var security: Security?

  public init() {}
}
