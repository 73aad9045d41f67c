import Synchronization

/// Facts about the connection of a hop, or about that of a client to a server; nil for each fact that is not known.
///
/// Copies share their storage. This makes them cheap, because a copy is made at the end of every hop.
public struct ConnectionFacts: Sendable, Hashable {
  /// One end of a connection.
  public struct Address: Sendable, Hashable {
    /// The numeric address, without brackets.
    public var host: String
    /// The port of the socket at this end of the connection.
    public var port: Int

    package init(host: String, port: Int) {
      self.host = host
      self.port = port
    }

    /// The same address without a zone. An IPv4 address that is written as IPv6 becomes IPv4.
    package var canonical: Address {
      let plain = String(host.prefix { $0 != "%" })
      let mapped = IPv6Address(plain.utf8.span)?.mapped
      return Address(host: mapped?.description ?? plain, port: port)
    }

    /// Whether the address is one of this machine alone.
    package var isLoopback: Bool { Origin.isLoopback(host: host) }
  }

  /// Facts about a connection over TLS.
  public struct Security: Sendable, Hashable {
    /// `TLSv1.3`, as OpenSSL names it.
    public var version: String
    /// `TLS_AES_256_GCM_SHA384`, as OpenSSL names it.
    public var cipher: String
    /// The peer's own certificate as DER; empty if it sent none.
    public var certificate: [UInt8]
    /// The name that the client asked for in the handshake (RFC 6066 §3); nil if it named none.
    public var serverName: String?

    package init(version: String, cipher: String, certificate: [UInt8], serverName: String? = nil) {
      self.version = version
      self.cipher = cipher
      self.certificate = certificate
      self.serverName = serverName
    }
  }

  private var fields = SharedValue(Fields())

  package init() {}

  private static let ids = Atomic<UInt64>(0)

  /// Makes a value for ``id``.
  package static func newID() -> UInt64 { ids.add(1, ordering: .relaxed).newValue }

  /// Unique within the process: no other connection gets the same id.
  public var id: UInt64? {
    get { fields.value.id }
    set { fields.value.id = newValue }
  }

  /// Whether an earlier request used the connection, or still uses it (HTTP/2).
  public var isReused: Bool? {
    get { fields.value.isReused }
    set { fields.value.isReused = newValue }
  }

  /// The HTTP version: of the request of a client; on the connection of a hop nil until the head of a response has
  /// arrived.
  public var version: HTTPVersion? {
    get { fields.value.version }
    set { fields.value.version = newValue }
  }

  /// The other end: the server or the proxy that the connection of a hop goes to, or the client.
  public var peer: Address? {
    get { fields.value.peer }
    set { fields.value.peer = newValue }
  }

  /// This machine's end of the connection.
  public var local: Address? {
    get { fields.value.local }
    set { fields.value.local = newValue }
  }

  /// Whether client and server use TLS; TLS to a proxy alone does not count.
  public var isSecure: Bool? {
    get { fields.value.isSecure }
    set { fields.value.isSecure = newValue }
  }

  /// Nil without TLS, and if the TLS library gives no information.
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

extension ConnectionFacts: CustomStringConvertible {
  /// What is known, for people to read: `connection 3 to 127.0.0.1:443, HTTP/2, TLSv1.3, reused`.
  public var description: String {
    var text = id.map { "connection \($0)" } ?? "connection"
    if let peer { text += " to \(peer)" }
    if let version { text += ", \(version)" }
    if let security { text += ", \(security.version)" }
    if isReused == true { text += ", reused" }
    return text
  }
}

extension ConnectionFacts.Address: CustomStringConvertible {
  /// As in a URL: `127.0.0.1:443`, `[::1]:443`.
  public var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
