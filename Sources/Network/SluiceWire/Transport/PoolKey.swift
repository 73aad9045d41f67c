import SluiceMessages
import SluicePipeline

/// The properties that all connections of a pool share.
struct PoolKey: Hashable {
  let origin: Origin
  /// Whether the name is looked up with its final dot. A name with a final dot can lead to another machine than the name without the dot.
  let hasFinalDot: Bool
  /// The challenges of the handshake that delegates answer; nil if they answer none.
  let handshake: HandshakePolicy?
  /// The number of a pool that is for a single transfer; 0 for a shared pool.
  let number: UInt64
  /// The client certificate, which replaces the certificate in the settings.
  let identity: RequestOptions.Identity?
  /// The path of the Unix socket, which replaces the path in the settings.
  let unixSocket: String?

  init(_ origin: Origin) {
    self.origin = origin
    hasFinalDot = origin.hasFinalDot
    handshake = nil
    number = 0
    identity = nil
    unixSocket = nil
  }

  init(_ request: borrowing Request, _ options: TransferOptions, for transfer: WireTransfer) {
    origin = request.url.origin
    hasFinalDot = origin.hasFinalDot
    let isSecure = origin.scheme == .https
    handshake = isSecure ? options.handshake : nil
    number = handshake?.choosesForCall == true ? transfer.takeOwnPoolNumber() : 0
    identity = isSecure && options.hasRoute && !options.isElsewhere ? request.options.identity : nil
    unixSocket = options.hasRoute ? request.options.unixSocket : nil
  }
}
