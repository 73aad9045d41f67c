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

  init(_ origin: Origin) {
    self.origin = origin
    asksTrust = false
    identity = nil
    unixSocket = nil
  }

  init(_ request: borrowing Request, _ options: TransferOptions) {
    origin = request.url.origin
    let isSecure = origin.scheme == .https
    asksTrust = isSecure && options.asksTrust
    identity = isSecure && options.hasRoute && !options.isElsewhere ? request.options.identity : nil
    unixSocket = options.hasRoute ? request.options.unixSocket : nil
  }
}
