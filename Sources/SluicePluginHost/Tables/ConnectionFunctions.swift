import CSluice
import SluiceMessages
import SluicePipeline

/// The table `sluice.connection/1`.
enum ConnectionFunctions {
  /// Never freed and never written after this; all threads share it as a constant.
  nonisolated(unsafe) private static let shared: UnsafePointer<sluice_connection> = {
    let table = UnsafeMutablePointer<sluice_connection>.allocate(capacity: 1)
    table.initialize(
      to: sluice_connection(
        size: UInt32(MemoryLayout<sluice_connection>.size), reserved: 0,
        get: { ConnectionFunctions.get($0, $1) }))
    return UnsafePointer(table)
  }()

  /// Returns the table, and makes transports collect the facts of connections from now on.
  static func table() -> UnsafePointer<sluice_connection> {
    ConnectionFacts.want()
    return shared
  }

  private static func get(
    _ handle: OpaquePointer?, _ facts: UnsafeMutablePointer<sluice_connection_facts>?
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let facts, facts.pointee.size >= UInt32(MemoryLayout<UInt32>.size) else {
      return called.refuse(.invalidArgument, "connection: its size is not set")
    }
    guard let known = called.exchange.connection else { return Status.absent }
    called.fill(facts, size: facts.pointee.size, with: record(known, called))
    return Status.ok
  }

  private static func record(_ known: ConnectionFacts, _ called: CalledExchange) -> sluice_connection_facts {
    var record = sluice_connection_facts()
    record.http_version = number(of: known.version)
    record.id = known.id ?? 0
    record.is_reused = Self.known(known.isReused)
    record.is_secure = Self.known(known.isSecure)
    if let peer = known.peer {
      record.peer_address = called.lend(peer.host)
      record.peer_port = UInt32(clamping: peer.port)
    }
    if let local = known.local {
      record.local_address = called.lend(local.host)
      record.local_port = UInt32(clamping: local.port)
    }
    if let security = known.security {
      record.tls_version = called.lend(security.version)
      record.tls_cipher = called.lend(security.cipher)
      record.certificate = sluice_bytes(called.lend(security.certificate))
    }
    return record
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
