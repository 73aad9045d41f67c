import CAttachABI
import SluiceMessages
import SluicePipeline

/// Computes how long the parts of a hop took, from libcurl's facts at its beginning and at its end. Libcurl adds up the
/// times of all hops of a transfer.
struct HopWatch {
  private var phases = TransferTimings.Nanoseconds()
  private var isConnectionReused = false
  private var address: String?
  /// The facts at the beginning of the hop, when its connection is established.
  private var start: sluice_attach_facts?
  private var began = Instant(nanoseconds: 0)

  mutating func begin(_ facts: sluice_attach_facts?, at now: Instant) {
    guard let facts else { return }
    began = now
    let before = start ?? sluice_attach_facts()
    isConnectionReused = facts.connections == before.connections
    phases = isConnectionReused ? TransferTimings.Nanoseconds() : Self.connecting(facts, since: before)
    // For a later hop, the pipeline begins to measure when the connection exists, so connecting takes no time.
    if start != nil { phases = TransferTimings.Nanoseconds() }
    address = facts.address.length == 0 ? nil : facts.address.string
    start = facts
    // The text of the address is only borrowed, so it must not be kept.
    start?.address = sluice_attach_text()
  }

  /// Call it when the hop has ended, or when the transfer has ended before its first hop.
  func timings(_ end: sluice_attach_facts?, at now: Instant) -> TransferTimings {
    guard let end else { return TransferTimings() }
    guard let start else {
      return made(
        Self.connecting(end, since: sluice_attach_facts()), end, end.address.length == 0 ? nil : end.address.string)
    }
    var phases = phases
    if end.first_byte > start.first_byte {
      // Libcurl adds the time of this hop to `pretransfer` only after `start` was read.
      let sent = max(end.pretransfer - start.pretransfer, 0)
      phases.wait = Self.nanoseconds(end.first_byte - start.first_byte - sent)
    }
    // Libcurl may have measured `start.total` some time before `began`.
    let all = min(Self.nanoseconds(end.total - start.total), now.duration(since: began).nanoseconds)
    phases.wait = min(phases.wait, all)
    phases.receive = phases.wait > 0 && all > phases.wait ? all - phases.wait : 0
    return made(phases, end, address)
  }

  private static func connecting(
    _ facts: sluice_attach_facts, since before: sluice_attach_facts
  ) -> TransferTimings.Nanoseconds {
    var phases = TransferTimings.Nanoseconds()
    let name = facts.name_lookup - before.name_lookup
    let connected = facts.connect - before.connect
    phases.nameLookup = nanoseconds(name)
    phases.connect = nanoseconds(connected - name)
    if facts.tls > before.tls { phases.tlsHandshake = nanoseconds(facts.tls - before.tls - connected) }
    return phases
  }

  private func made(
    _ phases: TransferTimings.Nanoseconds, _ end: sluice_attach_facts, _ address: String?
  ) -> TransferTimings {
    TransferTimings(
      phases, isConnectionReused: isConnectionReused, peerAddress: address, version: HTTPVersion(end.http_version),
      bytesSent: Int(clamping: end.sent_bytes), bytesReceived: Int(clamping: end.received_bytes))
  }

  private static func nanoseconds(_ microseconds: Int64) -> UInt64 {
    microseconds > 0 ? UInt64(microseconds) &* 1_000 : 0
  }
}
