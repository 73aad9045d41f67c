extension TransferTimings {
  /// The sum of all phases: the time from the moment at which the transport received the hop's request to the end of
  /// the hop.
  public var total: Duration { queue + nameLookup + connect + tunnel + tlsHandshake + send + wait + receive }
}

extension TransferTimings: CustomStringConvertible {
  /// The phases that took time, and the bytes, for people to read: `12.3 ms (connect 0.2 ms, wait 12.1 ms), 80 bytes
  /// sent, 2 received`.
  public var description: String {
    let phases = [
      ("queue", queue), ("name", nameLookup), ("connect", connect), ("tunnel", tunnel), ("TLS", tlsHandshake),
      ("send", send), ("wait", wait), ("receive", receive),
    ]
    let shown = phases.filter { $0.1 > .zero }.map { "\($0.0) \(Self.milliseconds($0.1))" }
    let parts = shown.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"
    return "\(Self.milliseconds(total))\(parts), \(bytesSent) bytes sent, \(bytesReceived) received"
  }

  /// The duration in milliseconds, with a precision of one microsecond.
  private static func milliseconds(_ duration: Duration) -> String {
    "\(Double(duration.nanoseconds / 1000) / 1000) ms"
  }
}
