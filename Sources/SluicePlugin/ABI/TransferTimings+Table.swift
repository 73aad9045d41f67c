import CSluice
import SluiceMessages

extension TransferTimings {
  init(_ timings: sluice_timings) {
    self.init()
    isConnectionReused = timings.is_connection_reused != 0
    queue = Duration(nanoseconds: timings.queue_ns)
    nameLookup = Duration(nanoseconds: timings.name_lookup_ns)
    connect = Duration(nanoseconds: timings.connect_ns)
    tlsHandshake = Duration(nanoseconds: timings.tls_handshake_ns)
    send = Duration(nanoseconds: timings.send_ns)
    wait = Duration(nanoseconds: timings.wait_ns)
    receive = Duration(nanoseconds: timings.receive_ns)
    bytesSent = Int(clamping: timings.bytes_sent)
    bytesReceived = Int(clamping: timings.bytes_received)
  }
}
