import SluiceMessages
import SluicePipeline

/// When the steps of a transfer happened.
struct WireTimes {
  private var waitingSince: Instant?
  private var queue = Duration.zero
  private var dial = Dial.Times()
  private var issuedAt: Instant?
  private var isConnectionReused = false
  private var peerAddress: String?
  /// When the last byte of the request was sent; nil if it went out with the first.
  var sentAt: Instant?
  private(set) var firstByteAt: Instant?
  /// When bytes of the response came last.
  private var lastByteAt: Instant?
  /// Bytes of head and body that the system has taken.
  var sentBytes = 0

  mutating func beginWaiting(at now: Instant) {
    if waitingSince == nil { waitingSince = now }
  }

  mutating func issue(at now: Instant, _ connection: WireConnection) {
    issuedAt = now
    isConnectionReused = connection.requestCount > 1
    peerAddress = connection.peerAddress
    guard let waitingSince else { return }
    queue = now.duration(since: waitingSince)
    if !isConnectionReused { take(connection.dialTimes) }
  }

  /// No connection could be made.
  mutating func fail(_ dial: Dial.Times, at now: Instant) {
    guard let waitingSince else { return }
    queue = now.duration(since: waitingSince)
    self.waitingSince = nil
    take(dial)
  }

  /// Takes the phases of a connection in the making out of the time in the queue. It may have been begun for another
  /// transfer, before this one: only what this one has waited for counts.
  private mutating func take(_ times: Dial.Times) {
    dial.tlsHandshake = take(times.tlsHandshake)
    dial.connect = take(times.connect)
    dial.nameLookup = take(times.nameLookup)
  }

  private mutating func take(_ phase: Duration) -> Duration {
    let taken = min(phase, queue)
    queue -= taken
    return taken
  }

  /// The transfer has ended, which ends its last phase.
  mutating func end(at now: Instant) {
    if lastByteAt != nil { lastByteAt = now }
  }

  mutating func receive(at now: Instant) {
    if firstByteAt == nil { firstByteAt = now }
    lastByteAt = now
  }

  /// The same between two pieces of the response, whenever it is called. Of the phases before the request, the one that
  /// is under way ends at `now`.
  func timings(at now: @autoclosure () -> Instant, version: HTTPVersion?, bytesReceived: Int) -> TransferTimings {
    guard let issuedAt else {
      var timings = TransferTimings()
      timings.engine = .wire
      timings.nameLookup = dial.nameLookup
      timings.connect = dial.connect
      timings.tlsHandshake = dial.tlsHandshake
      timings.queue = waitingSince.map { now().duration(since: $0) } ?? queue
      return timings
    }
    // If a server answers before it has the whole request, the send phase ends with the first byte of the answer.
    let sent = min(sentAt ?? issuedAt, firstByteAt ?? .distantFuture)
    let firstByteAt = firstByteAt ?? sent
    return TransferTimings(
      queue: queue, nameLookup: dial.nameLookup, connect: dial.connect, tlsHandshake: dial.tlsHandshake,
      send: sent.duration(since: issuedAt), wait: firstByteAt.duration(since: sent),
      receive: (lastByteAt ?? firstByteAt).duration(since: firstByteAt), isConnectionReused: isConnectionReused,
      peerAddress: peerAddress, version: version, engine: .wire, bytesSent: sentBytes, bytesReceived: bytesReceived)
  }
}
