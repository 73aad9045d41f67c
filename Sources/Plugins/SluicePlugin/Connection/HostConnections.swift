import CSluice
public import SluiceMessages

/// The host's facts about connections. The host begins to collect these facts when an instance first reads
/// ``PluginHost/connections``.
public struct HostConnections: Sendable {
  let link: HostLink

  /// The connection of the current hop; nil if the hop has no connection yet, or if the host gives no information.
  ///
  /// Available in issue interceptors, and in every later call and event.
  public func facts(of request: StageRequest) -> ConnectionFacts? {
    ConnectionFacts.get(of: request) { link.current.connections?.pointee.get($0, $1) }
  }
}

/// The host's facts about the clients of a server, such as `sluice serve`.
public struct HostClients: Sendable {
  let link: HostLink

  /// The connection of the client that has sent the request; nil if no client has sent it, because the transaction was
  /// begun in this process.
  ///
  /// Available in every call and event.
  public func facts(of request: StageRequest) -> ConnectionFacts? {
    ConnectionFacts.get(of: request) { link.current.clients?.pointee.get($0, $1) }
  }
}

extension PluginHost {
  /// Facts about connections (`sluice.connection/1`, a draft). Read it in `init` or `activate`; nil if the host lacks
  /// the table. From then on ``TransactionEvent/connection`` has these facts too.
  public var connections: HostConnections? {
    let isOffered: Bool? = link.withHost { $0.connections != nil }
    return isOffered == true ? HostConnections(link: link) : nil
  }

  /// Facts about clients (`sluice.client/1`, a draft); nil if the host lacks the table.
  public var clients: HostClients? {
    let isOffered: Bool? = link.withHost { $0.clients != nil }
    return isOffered == true ? HostClients(link: link) : nil
  }
}

extension ConnectionFacts {
  fileprivate static func get(
    of request: StageRequest,
    _ fill: (OpaquePointer, UnsafeMutablePointer<sluice_connection_facts>) -> sluice_status?
  ) -> ConnectionFacts? {
    request.call.withExchange { _, exchange in
      var facts = sluice_connection_facts()
      facts.size = UInt32(MemoryLayout<sluice_connection_facts>.size)
      guard fill(exchange, &facts) == 0 else { return nil }
      return ConnectionFacts(facts)
    } ?? nil
  }

  /// Copies the borrowed texts and the certificate.
  init(_ facts: sluice_connection_facts) {
    self.init()
    id = facts.id == 0 ? nil : facts.id
    version = HTTPVersion(number: facts.http_version)
    isReused = Self.known(facts.is_reused)
    isSecure = Self.known(facts.is_secure)
    peer = Self.address(facts.peer_address, facts.peer_port)
    local = Self.address(facts.local_address, facts.local_port)
    guard facts.tls_version.size > 0 else { return }
    let certificate = UnsafeRawBufferPointer(start: facts.certificate.data, count: facts.certificate.size)
    security = Security(
      version: String(facts.tls_version), cipher: String(facts.tls_cipher), certificate: [UInt8](certificate),
      serverName: facts.server_name.size == 0 ? nil : String(facts.server_name))
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

extension HTTPVersion {
  /// Numbered as in `connection.h`.
  fileprivate init?(number: UInt32) {
    switch number {
    case 10: self = .http10
    case 11: self = .http11
    case 20: self = .http2
    case 30: self = .http3
    default: return nil
    }
  }
}
