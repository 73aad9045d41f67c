import CSluice
import SluiceMessages

extension sluice_connection_facts {
  /// Copies the facts except the certificate. `lend` returns a C text with the given content, which must stay valid as
  /// long as the copy is used.
  init(_ facts: ConnectionFacts, _ lend: (String) -> sluice_text) {
    self.init()
    size = UInt32(MemoryLayout<sluice_connection_facts>.size)
    http_version = Self.number(of: facts.version)
    id = facts.id ?? 0
    is_reused = Self.known(facts.isReused)
    is_secure = Self.known(facts.isSecure)
    if let peer = facts.peer {
      peer_address = lend(peer.host)
      peer_port = UInt32(clamping: peer.port)
    }
    if let local = facts.local {
      local_address = lend(local.host)
      local_port = UInt32(clamping: local.port)
    }
    if let security = facts.security {
      tls_version = lend(security.version)
      tls_cipher = lend(security.cipher)
      if let name = security.serverName { server_name = lend(name) }
    }
  }

  private static func number(of version: HTTPVersion?) -> UInt32 {
    switch version {
    case nil: 0
    case .http10: 10
    case .http11: 11
    case .http2: 20
    case .http3: 30
    }
  }

  private static func known(_ fact: Bool?) -> sluice_known {
    sluice_known(fact.map { $0 ? SLUICE_KNOWN_YES : SLUICE_KNOWN_NO } ?? SLUICE_KNOWN_NOTHING)
  }
}
