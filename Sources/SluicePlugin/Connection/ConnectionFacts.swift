import CSluice

/// What the host knows of the connection of a hop; what it does not know is nil.
public struct ConnectionFacts: Sendable, Hashable {
  public enum HTTPVersion: UInt32, Sendable {
    case http10 = 10
    case http11 = 11
    case http2 = 20
    case http3 = 30
  }

  public struct Address: Sendable, Hashable {
    /// In numbers, without brackets.
    public let host: String
    /// 0 if it is unknown.
    public let port: Int
  }

  /// Not used for another connection of the process.
  public let id: UInt64?
  /// Known from the head of the response on.
  public let version: HTTPVersion?
  /// Whether an earlier request had the connection, or another one has it still (HTTP/2).
  public let isReused: Bool?
  /// Whether the connection uses TLS.
  public let isSecure: Bool?
  /// The server, or the proxy that the connection goes to.
  public let peer: Address?
  public let local: Address?
  /// `TLSv1.3`, as OpenSSL names it.
  public let tlsVersion: String?
  /// `TLS_AES_256_GCM_SHA384`, as OpenSSL names it.
  public let tlsCipher: String?
  /// The server's own certificate as DER.
  public let certificate: [UInt8]?

  init(_ facts: sluice_connection_facts) {
    id = facts.id == 0 ? nil : facts.id
    version = HTTPVersion(rawValue: facts.http_version)
    isReused = Self.known(facts.is_reused)
    isSecure = Self.known(facts.is_secure)
    peer = Self.address(facts.peer_address, facts.peer_port)
    local = Self.address(facts.local_address, facts.local_port)
    tlsVersion = facts.tls_version.size == 0 ? nil : String(facts.tls_version)
    tlsCipher = facts.tls_cipher.size == 0 ? nil : String(facts.tls_cipher)
    let bytes = UnsafeRawBufferPointer(start: facts.certificate.data, count: facts.certificate.size)
    certificate = bytes.isEmpty ? nil : [UInt8](bytes)
  }

  private static func known(_ fact: sluice_known) -> Bool? {
    switch Int(fact) {
    case Int(SLUICE_KNOWN_YES): true
    case Int(SLUICE_KNOWN_NO): false
    default: nil
    }
  }

  private static func address(_ host: sluice_text, _ port: UInt32) -> Address? {
    host.size == 0 ? nil : Address(host: String(host), port: Int(port))
  }
}

/// The host's facts about connections, which it collects from the first time that an instance has asked for this.
public struct HostConnections: Sendable {
  let link: HostLink

  /// The connection of the current hop; nil for a hop that has none yet, and if the host does not tell.
  ///
  /// In issue interceptors, and in every call and event after them.
  public func facts(of request: Request) -> ConnectionFacts? {
    request.call.withExchange { _, exchange in
      var facts = sluice_connection_facts()
      facts.size = UInt32(MemoryLayout<sluice_connection_facts>.size)
      guard link.current.connections?.pointee.get(exchange, &facts) == 0 else { return nil }
      return ConnectionFacts(facts)
    } ?? nil
  }
}

extension PluginHost {
  /// Facts about connections (`sluice.connection/1`, a draft). Ask in `init` or `activate`; nil if the host lacks them.
  public var connections: HostConnections? {
    let isOffered: Bool? = link.withHost { $0.connections != nil }
    return isOffered == true ? HostConnections(link: link) : nil
  }
}
