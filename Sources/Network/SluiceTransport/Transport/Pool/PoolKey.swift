import SluiceMessages
import SluicePipeline

/// The properties that all connections of a pool share.
struct PoolKey: Hashable {
  /// The origin of the requests. If a proxy gets them with their whole URLs, it is the proxy: then requests to all
  /// origins share connections.
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
  /// The proxy. Nil for direct connections.
  let proxy: Proxy?
  /// Whether the proxy opens a tunnel to the origin.
  let opensTunnel: Bool
  /// Whether the pool is for a single transfer. Its connection is closed when that transfer ends.
  var isPrivate: Bool { number != 0 }

  init(_ origin: Origin, _ proxies: ProxyRules, _ settings: TransportSettings) {
    (self.origin, proxy, opensTunnel) = Self.way(to: origin, proxies.proxy(for: origin), settings)
    hasFinalDot = self.origin.hasFinalDot
    handshake = nil
    number = 0
    identity = nil
    unixSocket = nil
  }

  /// - Parameter proxies: decide about the proxy, unless the request has a Unix socket.
  init(
    _ request: borrowing Request, _ options: TransferOptions, _ proxies: ProxyRules, _ settings: TransportSettings,
    for transfer: HTTPTransfer
  ) {
    unixSocket = options.hasRoute ? request.options.unixSocket : nil
    let server = request.url.origin
    let proxy = unixSocket == nil ? proxies.proxy(for: server) : nil
    (origin, self.proxy, opensTunnel) = Self.way(to: server, proxy, settings)
    hasFinalDot = origin.hasFinalDot
    let isSecure = server.scheme == .https
    handshake = isSecure ? options.handshake : nil
    number = handshake?.choosesForCall == true ? transfer.takeOwnPoolNumber() : 0
    identity = isSecure && options.hasRoute && !options.isElsewhere ? request.options.identity : nil
  }

  private static func way(
    to origin: Origin, _ proxy: Proxy?, _ settings: TransportSettings
  ) -> (origin: Origin, proxy: Proxy?, opensTunnel: Bool) {
    guard let proxy else { return (origin, nil, false) }
    guard !proxy.opensTunnel(to: origin, settings) else { return (origin, proxy, true) }
    return (Origin(scheme: .http, host: proxy.place.host, port: proxy.place.port), proxy, false)
  }
}
