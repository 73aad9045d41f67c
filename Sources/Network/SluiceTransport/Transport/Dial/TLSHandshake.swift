/// A connected socket on which TLS is being set up.
final class TLSHandshake: SocketEndpoint {
  /// The socket with TLS.
  let secured: Channel
  let channel: TLSClientChannel
  private unowned(unsafe) let dial: Dial

  init(_ secured: Channel, _ channel: TLSClientChannel, _ dial: Dial) {
    self.secured = secured
    self.channel = channel
    self.dial = dial
  }

  override func isReady(_ events: UInt32) { dial.handshakeIsReady(self, events) }
}
