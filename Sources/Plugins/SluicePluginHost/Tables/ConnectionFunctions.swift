import CSluice
import SluiceMessages
import SluicePipeline

/// The table `sluice.connection/1`.
enum ConnectionFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
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
    give(handle, facts) { $0.connection }
  }

  /// Fills the facts that the exchange has.
  fileprivate static func give(
    _ handle: OpaquePointer?, _ facts: UnsafeMutablePointer<sluice_connection_facts>?,
    of known: (Exchange) -> ConnectionFacts?
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let facts, facts.pointee.size >= UInt32(MemoryLayout<UInt32>.size) else {
      return called.refuse(.invalidArgument, "connection: the size in the structure is not set")
    }
    guard let known = known(called.exchange) else { return Status.absent }
    called.fill(facts, size: facts.pointee.size, with: sluice_connection_facts(known, called))
    return Status.ok
  }
}

/// The table `sluice.client/1`.
enum ClientFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_client> = {
    let table = UnsafeMutablePointer<sluice_client>.allocate(capacity: 1)
    table.initialize(
      to: sluice_client(
        size: UInt32(MemoryLayout<sluice_client>.size), reserved: 0,
        get: { ConnectionFunctions.give($0, $1) { $0.client } }))
    return UnsafePointer(table)
  }()
}

extension sluice_connection_facts {
  /// Lends the facts, with the certificate, to a call.
  init(_ facts: ConnectionFacts, _ called: CalledExchange) {
    self.init(facts) { called.lend($0) }
    if let security = facts.security { certificate = sluice_bytes(called.lend(security.certificate)) }
  }
}
