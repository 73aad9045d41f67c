import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// How the connections of one pool lead through a proxy to the server. Only the loop uses it.
final class ProxyWay {
  let proxy: Proxy
  /// Whether the proxy opens a tunnel. Otherwise it gets the requests itself, with the whole URL.
  let opensTunnel: Bool
  /// What the proxy is told about the user; nil if its URL names none.
  let authorization: ProxyAuthorization?
  /// The addresses of the server, if this side looks its name up; nil if the proxy does.
  let server: PlaceAddresses?
  let sessions = TLSSessions()
  private let place: SocketSettings.Place
  private unowned let transport: HTTPTransport

  /// - Parameter place: where the settings say that the server is.
  init(_ proxy: Proxy, to place: SocketSettings.Place, opensTunnel: Bool, _ transport: HTTPTransport) {
    let isGiven = transport.settings.sockets.addresses(of: place) != nil
    self.proxy = proxy
    self.place = place
    self.transport = transport
    self.opensTunnel = opensTunnel
    authorization = transport.authorization(for: proxy)
    server = opensTunnel && (proxy.needsAddress || isGiven) ? PlaceAddresses(place, transport) : nil
  }

  /// The name of the server, for a proxy that looks it up.
  var namedTarget: TunnelTarget {
    let address = SocketAddress(place.host, port: place.port)?.bytes
    return TunnelTarget(host: place.host, port: place.port, address: address)
  }

  /// The server with each of its addresses, in the order in which the proxy is asked for them. If the proxy can connect
  /// to none of them, the first one is asked for, and the error says why.
  func targets(_ addresses: [SocketAddress]) -> [TunnelTarget] {
    let usable = addresses.filter { proxy.kind != .socks4 && proxy.kind != .socks4a || $0.bytes.count == 4 }
    return (usable.isEmpty ? Array(addresses.prefix(1)) : usable).map {
      TunnelTarget(host: $0.text, port: place.port, address: $0.bytes)
    }
  }

  /// What is said to the proxy until the tunnel is open.
  func dialogue(to target: TunnelTarget) throws(ProxyFault) -> any TunnelDialogue {
    switch proxy.kind {
    case .socks4, .socks4a: return try SOCKS4Dialogue(target, proxy)
    case .socks5, .socks5h: return try SOCKS5Dialogue(target, proxy)
    case .http, .https:
      // A final dot is for this side's resolver.
      let host = target.host.hasSuffix(".") ? String(target.host.dropLast()) : target.host
      let authority = SocketSettings.Place(host: host, port: target.port).authority
      return ConnectDialogue(
        authority: authority, agent: transport.defaults.agent,
        authorization: authorization?.value("CONNECT", authority), transport.limits)
    }
  }

  /// Adds what the proxy is told about the user to a request that the proxy itself gets, unless the request already
  /// answers a challenge of the proxy.
  func addAuthorization(to headers: inout HeaderFields, _ request: borrowing Request) {
    guard let authorization else { return }
    if let index = headers.firstIndex(named: "proxy-authorization".utf8.span),
      headers.marks(at: index).contains(.forProxy)
    {
      return
    }
    let target = "\(request.url.origin)\(request.url.requestTarget)"
    guard let value = authorization.value(request.method, target) else { return }
    headers.append("Proxy-Authorization", value, marks: [.sensitive, .forProxy])
  }

  /// Makes the TLS channel to an HTTPS proxy. The client certificate and the accepted keys are for servers only.
  /// The proxy's certificate is always verified, with the authorities of the settings.
  func makeTLS(_ descriptor: Int32) throws(TLSFailure) -> TLSClientChannel {
    var tls = transport.settings.tls
    (tls.certificate, tls.key, tls.password, tls.keyHashes, tls.verify) = (nil, nil, nil, [], true)
    return try TLSClientChannel(
      descriptor, isForServer: false, transport.tlsContext(tls, mayOfferHTTP2: false), sessions, host: proxy.place.host)
  }
}

extension Proxy {
  /// Whether the proxy opens a tunnel to the server. Otherwise it gets the requests itself, with the whole URL: then it
  /// looks up the host of the URL, and speaks HTTP/1 to the server.
  func opensTunnel(to origin: Origin, _ settings: TransportSettings) -> Bool {
    if !isHTTP || origin.scheme == .https || settings.assumesHTTP2 { return true }
    guard !settings.sockets.isDefault else { return false }
    let named = SocketSettings.Place(host: origin.lookUpName, port: origin.port)
    let place = settings.sockets.destination(of: named)
    return place != named || settings.sockets.addresses(of: place) != nil
  }
}
