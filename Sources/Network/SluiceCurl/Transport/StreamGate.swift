import SluiceSupport

/// Decides which transfers to a host may start, and which must wait for room on a connection. It is used for hosts that
/// may speak HTTP/2.
///
/// If all connections have their maximum number of streams, libcurl opens a new connection for each further transfer,
/// and may open a hundred of them at once. The gate therefore lets only one transfer start while all open connections
/// are full. This transfer opens a connection, and the others follow when it is established. The local port of a
/// transfer identifies its connection. With HTTP/1.1, each connection has only one transfer. Even so, the gate counts
/// each new connection as room for many transfers, so transfers do not wait for long.
struct StreamGate {
  private var inFlight = 0
  private var connecting = 0
  /// The number of transfers on each connection, by local port.
  private var streams: [Int32: Int] = [:]
  private var waiting = FIFOQueue<CurlTransfer>()

  var isIdle: Bool { inFlight == 0 && waiting.isEmpty }

  /// Admits a transfer. Returns false if the transfer must wait.
  mutating func admit() -> Bool {
    let room = max(1, streams.count) * CurlMulti.streamsPerConnection
    guard inFlight < room || connecting == 0 else { return false }
    inFlight += 1
    connecting += 1
    return true
  }

  mutating func wait(_ transfer: CurlTransfer) { waiting.append(transfer) }

  mutating func didIssue(onPort port: Int32) {
    connecting -= 1
    streams[port, default: 0] += 1
  }

  /// Must be called when an admitted transfer has ended. `port` is nil if it never got a connection.
  mutating func didEnd(onPort port: Int32?) {
    inFlight -= 1
    guard let port else { return connecting -= 1 }
    guard let count = streams[port] else { return }
    streams[port] = count > 1 ? count - 1 : nil
  }

  /// Admits the next waiting transfer and returns it; nil if none waits or none can be admitted.
  mutating func next() -> CurlTransfer? {
    while let transfer = waiting.first {
      let isOver = transfer.isOver
      guard isOver || admit() else { return nil }
      _ = waiting.popFirst()
      if !isOver { return transfer }
    }
    return nil
  }
}
