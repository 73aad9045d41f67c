import CSluice
import SluiceMessages

extension TransferTimings {
  init(_ timings: sluice_timings) {
    var phases = Nanoseconds()
    phases.queue = timings.queue_ns
    phases.nameLookup = timings.name_lookup_ns
    phases.connect = timings.connect_ns
    phases.tlsHandshake = timings.tls_handshake_ns
    phases.send = timings.send_ns
    phases.wait = timings.wait_ns
    phases.receive = timings.receive_ns
    self.init(
      phases, isConnectionReused: timings.is_connection_reused != 0, peerAddress: nil, version: nil,
      bytesSent: Int(clamping: timings.bytes_sent), bytesReceived: Int(clamping: timings.bytes_received))
  }
}
