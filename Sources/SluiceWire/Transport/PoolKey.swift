import SluiceMessages
import SluicePipeline

/// What the connections of a pool have in common.
struct PoolKey: Hashable {
  let origin: Origin
  /// Whether delegates decide about the server, in addition to the trusted authorities.
  let asksTrust: Bool
  /// The client certificate, in place of that of the settings.
  let identity: RequestOptions.Identity?
  /// The path of the Unix socket, in place of that of the settings.
  let unixSocket: String?

  init(_ origin: Origin, _ options: borrowing TransferOptions) {
    self.origin = origin
    let isSecure = origin.scheme == .https
    asksTrust = isSecure && options.asksTrust
    identity = isSecure ? options.identity : nil
    unixSocket = options.unixSocket
  }
}

extension TransferOptions {
  /// Whether only the origin decides about the pool.
  var hasCommonPool: Bool { !asksTrust && identity == nil && unixSocket == nil }
}
