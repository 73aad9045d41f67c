import SluiceMessages
import SluicePipeline

/// The times of the steps of a transfer, and their durations in nanoseconds. The structure has no references, so that a
/// copy costs little.
struct TransferTimes {
  private var waitingSince: Instant?
  private var queue: UInt64 = 0
  private var dial = Dial.Times()
  private(set) var issuedAt: Instant?
  private var isConnectionReused = false
  /// The time at which the last byte of the request was sent; nil if it was sent together with the first.
  var sentAt: Instant?
  private(set) var firstByteAt: Instant?
  /// The time at which the last bytes of the response arrived.
  private var lastByteAt: Instant?
  /// The number of bytes of head and body that the system has taken.
  var sentBytes = 0

  mutating func beginWaiting(at now: Instant) {
    if waitingSince == nil { waitingSince = now }
  }

  mutating func issue(at now: Instant, _ connection: HTTPConnection) {
    issuedAt = now
    isConnectionReused = connection.requestCount > 1
    guard let waitingSince else { return }
    queue = now.nanoseconds(since: waitingSince)
    if !isConnectionReused { take(connection.dialTimes) }
  }

  /// Notes that no connection could be made.
  mutating func fail(_ dial: Dial.Times, at now: Instant) {
    guard let waitingSince else { return }
    queue = now.nanoseconds(since: waitingSince)
    self.waitingSince = nil
    take(dial)
  }

  /// Subtracts the times that the new connection took from the time in the queue. The connection may have been begun
  /// earlier, for another transfer. So only the part of these times counts in which this transfer waited.
  private mutating func take(_ times: Dial.Times) {
    dial.tlsHandshake = take(times.tlsHandshake)
    dial.tunnel = take(times.tunnel)
    dial.connect = take(times.connect)
    dial.nameLookup = take(times.nameLookup)
  }

  private mutating func take(_ phase: UInt64) -> UInt64 {
    let taken = min(phase, queue)
    queue -= taken
    return taken
  }

  /// Notes that the transfer has ended, which ends its last phase.
  mutating func end(at now: Instant) {
    if lastByteAt != nil { lastByteAt = now }
  }

  mutating func receive(at now: Instant) {
    if firstByteAt == nil { firstByteAt = now }
    lastByteAt = now
  }

  /// Returns the timings so far. They change only when a piece of the response arrives. Before the request is issued,
  /// the time in the queue lasts until `now`.
  func timings(at now: Instant, peer: String, version: HTTPVersion?, bytesReceived: Int) -> TransferTimings {
    var phases = TransferTimings.Nanoseconds()
    phases.nameLookup = dial.nameLookup
    phases.connect = dial.connect
    phases.tunnel = dial.tunnel
    phases.tlsHandshake = dial.tlsHandshake
    guard let issuedAt else {
      phases.queue = waitingSince.map { now.nanoseconds(since: $0) } ?? queue
      return TransferTimings(
        phases, isConnectionReused: false, peerAddress: nil, version: nil, bytesSent: 0, bytesReceived: 0)
    }
    // If a server answers before it has the whole request, the send phase ends with the first byte of the answer.
    let sent = firstByteAt.map { min(sentAt ?? issuedAt, $0) } ?? sentAt ?? issuedAt
    let firstByteAt = firstByteAt ?? sent
    phases.queue = queue
    phases.send = sent.nanoseconds(since: issuedAt)
    phases.wait = firstByteAt.nanoseconds(since: sent)
    phases.receive = (lastByteAt ?? firstByteAt).nanoseconds(since: firstByteAt)
    return TransferTimings(
      phases, isConnectionReused: isConnectionReused, peerAddress: peer.isEmpty ? nil : peer, version: version,
      bytesSent: sentBytes, bytesReceived: bytesReceived)
  }
}
