import CSluice

/// Where the time of a hop went; a phase that did not happen is zero.
public struct TransferTimings: Sendable, Hashable {
  public let isConnectionReused: Bool
  public let queue: Duration
  public let nameLookup: Duration
  public let connect: Duration
  public let tlsHandshake: Duration
  public let send: Duration
  public let wait: Duration
  public let receive: Duration
  public let bytesSent: UInt64
  public let bytesReceived: UInt64

  init(_ timings: sluice_timings) {
    isConnectionReused = timings.is_connection_reused != 0
    queue = Duration(nanoseconds: timings.queue_ns)
    nameLookup = Duration(nanoseconds: timings.name_lookup_ns)
    connect = Duration(nanoseconds: timings.connect_ns)
    tlsHandshake = Duration(nanoseconds: timings.tls_handshake_ns)
    send = Duration(nanoseconds: timings.send_ns)
    wait = Duration(nanoseconds: timings.wait_ns)
    receive = Duration(nanoseconds: timings.receive_ns)
    bytesSent = timings.bytes_sent
    bytesReceived = timings.bytes_received
  }
}
