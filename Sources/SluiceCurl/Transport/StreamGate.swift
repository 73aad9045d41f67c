import SluiceSupport

/// Decides which transfers to a host may start and which wait for room on a connection; for hosts that may speak
/// HTTP/2.
///
/// Libcurl opens a connection for each transfer that finds all connections full of streams, a hundred at once if need
/// be. Here, while all open connections are full, only one transfer at a time starts and opens a connection; the others
/// follow when it is established. The local port of a transfer identifies its connection. With HTTP/1.1, each
/// connection carries one transfer, but each new one adds so much room that transfers do not wait for long.
struct StreamGate {
  private var inFlight = 0
  private var connecting = 0
  /// Transfers on each connection, by local port.
  private var streams: [Int32: Int] = [:]
  private var waiting = FIFOQueue<CurlTransfer>()

  var isIdle: Bool { inFlight == 0 && waiting.isEmpty }

  /// Lets a transfer in, or says that it must wait.
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

  /// An admitted transfer has ended; `port` is nil if it never got a connection.
  mutating func didEnd(onPort port: Int32?) {
    inFlight -= 1
    guard let port else { return connecting -= 1 }
    guard let count = streams[port] else { return }
    streams[port] = count > 1 ? count - 1 : nil
  }

  /// The next waiting transfer, which is now admitted.
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
