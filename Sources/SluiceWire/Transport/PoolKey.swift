import SluiceMessages
import SluicePipeline

/// What the connections of a pool have in common.
struct PoolKey: Hashable {
  let origin: Origin
  /// Which challenges of the handshake delegates answer; nil for none.
  let handshake: HandshakePolicy?
  /// The number of a pool that is for one transfer alone; 0 for those that are shared.
  let number: UInt64
  /// The client certificate, in place of the one in the settings.
  let identity: RequestOptions.Identity?
  /// The path of the Unix socket, in place of the one in the settings.
  let unixSocket: String?

  init(_ origin: Origin) {
    self.origin = origin
    handshake = nil
    number = 0
    identity = nil
    unixSocket = nil
  }

  init(_ request: borrowing Request, _ options: TransferOptions, for transfer: WireTransfer) {
    origin = request.url.origin
    let isSecure = origin.scheme == .https
    handshake = isSecure ? options.handshake : nil
    number = handshake?.choosesForCall == true ? transfer.takeOwnPoolNumber() : 0
    identity = isSecure && options.hasRoute && !options.isElsewhere ? request.options.identity : nil
    unixSocket = options.hasRoute ? request.options.unixSocket : nil
  }
}
