/// What is known of the connection of a hop. What a transport does not know is nil. Shares its storage, because it travels with
/// every end of a hop.
public struct ConnectionFacts: Sendable, Hashable {
  /// One end of a connection.
  public struct Address: Sendable, Hashable {
    /// In numbers, without brackets.
    public var host: String
    /// The port of the socket at this end.
    public var port: Int

    package init(host: String, port: Int) {
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

    package init(version: String, cipher: String, certificate: [UInt8]) {
      self.version = version
      self.cipher = cipher
      self.certificate = certificate
    }
  }

  private var fields = SharedValue(Fields())

  package init() {}

  /// Not used for another connection of the process.
  public var id: UInt64? {
    get { fields.value.id }
    set { fields.value.id = newValue }
  }

  /// Whether an earlier request had the connection, or has it still (HTTP/2).
  public var isReused: Bool? {
    get { fields.value.isReused }
    set { fields.value.isReused = newValue }
  }

  /// Known with the head of the response.
  public var version: HTTPVersion? {
    get { fields.value.version }
    set { fields.value.version = newValue }
  }

  /// The server, or the proxy that the connection goes to.
  public var peer: Address? {
    get { fields.value.peer }
    set { fields.value.peer = newValue }
  }

  /// This machine's end of the connection.
  public var local: Address? {
    get { fields.value.local }
    set { fields.value.local = newValue }
  }

  /// Whether the hop uses TLS to the server; TLS to a proxy alone does not count.
  public var isSecure: Bool? {
    get { fields.value.isSecure }
    set { fields.value.isSecure = newValue }
  }

  /// Nil without TLS, and where the TLS library does not tell.
  public var security: Security? {
    get { fields.value.security }
    set { fields.value.security = newValue }
  }
}

extension ConnectionFacts {
  private struct Fields: Hashable, Sendable {
    var id: UInt64?
    var isReused: Bool?
    var version: HTTPVersion?
    var peer: Address?
    var local: Address?
    var isSecure: Bool?
    var security: Security?
  }
}
