import SluiceIDNA
import SluiceJSON
package import SluiceMessages

/// How `sluice serve` serves clients; the `serve` object of a configuration.
package struct ServeSettings: Sendable, Hashable {
  /// What happens to the fields that name the client: `Forwarded` (RFC 7239), `X-Forwarded-For`, `X-Forwarded-Host` and
  /// `X-Forwarded-Proto`.
  package enum Forwarded: String, Sendable, CaseIterable {
    /// The fields of the client are replaced, because it can write anything into them.
    case replace
    /// The fields of the client are kept, and this hop is appended. For clients that are trusted gateways themselves.
    case append
    /// The fields of the client are passed on, and nothing is added.
    case none
  }

  /// What happens to the trace context of the client (`traceparent`, `tracestate`, `baggage`).
  package enum Trace: String, Sendable, CaseIterable {
    /// Its trace is continued.
    case extract
    /// A new trace begins. The fields of the client are dropped.
    case ignore
  }

  /// Which `Host` the upstream gets.
  package enum Host: String, Sendable, CaseIterable {
    /// The one that the client has sent.
    case keep
    /// The one of the upstream's URL.
    case upstream
  }

  /// A port on which clients connect.
  package struct Listener: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
      /// The host without brackets, an address or a local name.
      case address(host: String, port: UInt16)
      /// A socket that the service manager has opened, by its name; nil for the only one.
      case inherited(name: String?)
    }

    package var place: Place
    /// The clients that are served; nil if none was chosen, which only a loopback address accepts.
    package var clients: Clients?
    /// Nil if the port speaks HTTP without TLS.
    package var tls: TLS?

    package init(host: String, port: UInt16, clients: Clients? = nil, tls: TLS? = nil) {
      self.init(.address(host: host, port: port))
      self.clients = clients
      self.tls = tls
    }

    private init(_ place: Place) { self.place = place }

    /// Whether only programs of this machine can connect; false if that is not known.
    package var isLoopback: Bool {
      if case .address(let host, _) = place { Origin.isLoopback(host: host) } else { false }
    }

    /// `8080`, `127.0.0.1:8080`, `[::1]:8080`; a port alone is on 127.0.0.1. `systemd` and `systemd:NAME` are sockets that
    /// systemd has opened. Nil for other texts.
    package init?(_ text: String) {
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.first == "systemd" {
        guard parts.count == 1 || !parts[1].isEmpty else { return nil }
        self.init(.inherited(name: parts.count == 1 ? nil : String(parts[1])))
        return
      }
      guard let colon = text.lastIndex(of: ":") else {
        guard let port = UInt16(text) else { return nil }
        self.init(host: "127.0.0.1", port: port)
        return
      }
      var host = text[..<colon]
      if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
      guard let port = UInt16(text[text.index(after: colon)...]), !host.isEmpty || colon == text.startIndex else {
        return nil
      }
      self.init(host: host.isEmpty ? "127.0.0.1" : String(host), port: port)
    }
  }

  /// TLS on a port. The paths are absolute.
  package struct TLS: Sendable, Hashable {
    /// The certificates with their chains and keys, in PEM. The name that a client asks for chooses; the first one serves
    /// the other clients.
    package var certificates: [Certificate]
    /// The file with the authorities that vouch for certificates of clients; nil if clients are not asked for one.
    package var clientAuthorities: String?

    package init(certificates: [Certificate], clientAuthorities: String? = nil) {
      (self.certificates, self.clientAuthorities) = (certificates, clientAuthorities)
    }

    package struct Certificate: Sendable, Hashable {
      package var chain: String
      /// Can be the same file.
      package var key: String

      package init(chain: String, key: String) { (self.chain, self.key) = (chain, key) }
    }
  }

  /// The clients of a port.
  package enum Clients: Sendable, Hashable {
    /// Everybody who reaches the port.
    case open
    /// Clients with a certificate of the authorities of the port.
    case certificate
    /// Clients with an address in one of these ranges.
    case ranges([AddressRange])

    package func contain(_ address: ConnectionFacts.Address?) -> Bool {
      switch self {
      // The handshake has checked the certificate.
      case .open, .certificate: true
      case .ranges(let ranges): address.map { address in ranges.contains { $0.contains(address.host) } } ?? false
      }
    }
  }

  /// What clients are allowed. A value that is nil has the default of the server.
  package struct Limits: Sendable, Hashable {
    /// Open connections on each port.
    package var connections: Int?
    /// The requests of one connection of HTTP/2 at a time.
    package var streams: Int?
    package var requestsPerConnection: Int?
    package var headTimeout: Duration?
    package var idle: Duration?
    package var bodyIdle: Duration?
    package var bufferBytes: Int?
  }

  package var listeners: [Listener] = []
  /// Where requests go. The path is put before the path of each request. Nil if none was given.
  package var upstream: HTTPURL?
  /// The path of the Unix socket on which the upstream listens; nil for TCP.
  package var unixSocket: String?
  package var forwarded = Forwarded.replace
  package var trace = Trace.extract
  package var host = Host.keep
  package var limits = Limits()
  /// How long requests in flight can take after a signal to end.
  package var drain = Duration.seconds(30)

  package init() {}

  /// Sets the upstream from a text: a URL without user, query and fragment, or `unix:PATH`.
  /// - Parameter resolve: makes a path absolute.
  package mutating func setUpstream(
    _ text: String, resolve: (String) -> String
  ) throws(MessageError) {
    if text.hasPrefix(Self.unixPrefix) {
      let path = String(text.dropFirst(Self.unixPrefix.count))
      guard !path.isEmpty else { throw MessageError(.invalidURL, "upstream", "expected a path after \"unix:\"") }
      upstream = "http://localhost/"
      unixSocket = resolve(path)
      return
    }
    let url = try HTTPURL(text, hosts: .idna)
    guard url.userInfo == nil else {
      throw MessageError(
        .invalidURL, "upstream",
        "the URL has a user or a password; set credentials with an issue stage such as bearer-auth")
    }
    guard url.query == nil, !text.contains("#") else {
      throw MessageError(
        .invalidURL, "upstream", "the URL has a query or a fragment; only scheme, host, port and path count")
    }
    upstream = url
    unixSocket = nil
  }

  private static let unixPrefix = "unix:"
}

extension Configuration {
  /// Makes this the configuration of an engine that serves clients as a gateway to this service.
  package mutating func serveClients(of upstream: HTTPURL?) {
    isShared = true
    // A transaction can take as long as its bodies make progress.
    if !namesDeadline { deadline = nil }
    // By default, trace headers go to the origin of this URL.
    if baseURL == nil { baseURL = upstream }
  }

  mutating func readServe(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["listen", "to", "forwarded", "trace", "host", "limits", "drain"])
    var serve = ServeSettings()
    for listener in try node["listen"]?.elements() ?? [] { serve.listeners.append(try Self.listener(listener)) }
    if let to = node["to"] {
      let text = try to.string()
      do throws(MessageError) { try serve.setUpstream(text) { to.source.resolve($0) } } catch {
        throw to.error(error.reason)
      }
    }
    if let forwarded = node["forwarded"] { serve.forwarded = try forwarded.word(ServeSettings.Forwarded.self) }
    if let trace = node["trace"] { serve.trace = try trace.word(ServeSettings.Trace.self) }
    if let host = node["host"] { serve.host = try host.word(ServeSettings.Host.self) }
    if let limits = node["limits"] { serve.limits = try Self.serveLimits(limits) }
    if let drain = node["drain"] { serve.drain = try drain.duration() }
    self.serve = serve
  }

  private static func listener(_ node: ConfigurationNode) throws(ConfigurationError) -> ServeSettings.Listener {
    try node.checkObject(["at", "clients", "tls"])
    guard let at = node["at"] else {
      throw node.error("\"at\" is missing: the port, the address and the port, or \"systemd\"")
    }
    let text = try at.string()
    guard var listener = ServeSettings.Listener(text) else {
      throw at.error(
        "expected a port, an address and a port, \"systemd\" or \"systemd:NAME\", found \(PlainText.quote(text))")
    }
    if let tls = node["tls"] { listener.tls = try Self.serverTLS(tls) }
    if let clients = node["clients"] {
      listener.clients = try Self.clients(clients)
      guard listener.clients != .certificate || listener.tls?.clientAuthorities != nil else {
        throw clients.error(
          "\"certificate\" needs the authorities of the clients", advice: "name their file with \"tls.clientCa\"")
      }
    }
    guard listener.clients != nil || listener.isLoopback else {
      throw at.error(
        "other machines reach this address, so \"clients\" must say who is served",
        advice: "add \"clients\": \"open\", or a list of address ranges such as [\"10.0.0.0/8\"]")
    }
    return listener
  }

  private static func clients(_ node: ConfigurationNode) throws(ConfigurationError) -> ServeSettings.Clients {
    if node.value.isArray {
      var ranges: [AddressRange] = []
      for element in try node.elements() {
        let text = try element.string()
        guard let range = AddressRange(text) else {
          throw element.error("expected an address or a range such as \"10.0.0.0/8\", found \(PlainText.quote(text))")
        }
        ranges.append(range)
      }
      guard !ranges.isEmpty else { throw node.error("the list is empty, so nobody would be served") }
      return .ranges(ranges)
    }
    switch try node.string() {
    case "open": return .open
    case "certificate": return .certificate
    default: throw node.error("expected \"open\", \"certificate\" or a list of address ranges, found \(node.value)")
    }
  }

  private static func serverTLS(_ node: ConfigurationNode) throws(ConfigurationError) -> ServeSettings.TLS {
    try node.checkObject(["cert", "key", "clientCa", "certificates"])
    var tls = ServeSettings.TLS(certificates: [try certificate(node)])
    for further in try node["certificates"]?.elements() ?? [] {
      try further.checkObject(["cert", "key"])
      tls.certificates.append(try certificate(further))
    }
    tls.clientAuthorities = try node["clientCa"].map(path)
    return tls
  }

  /// Reads `cert` and `key`. Without a key, the file with the certificate has it.
  private static func certificate(
    _ node: ConfigurationNode
  ) throws(ConfigurationError) -> ServeSettings.TLS.Certificate {
    guard let certificate = node["cert"] else { throw node.error("\"cert\" is missing: the file with the certificate") }
    let chain = try path(certificate)
    return ServeSettings.TLS.Certificate(chain: chain, key: try node["key"].map(path) ?? chain)
  }

  private static func path(_ node: ConfigurationNode) throws(ConfigurationError) -> String {
    let text = try node.string()
    guard !text.isEmpty else { throw node.error("expected the path of a file") }
    return node.source.resolve(text)
  }

  private static func serveLimits(_ node: ConfigurationNode) throws(ConfigurationError) -> ServeSettings.Limits {
    try node.checkObject([
      "connections", "streams", "requestsPerConnection", "headTimeout", "idle", "bodyIdle", "bufferBytes",
    ])
    var limits = ServeSettings.Limits()
    limits.connections = try node["connections"]?.integer(1...1_000_000)
    limits.streams = try node["streams"]?.integer(1...10_000)
    limits.requestsPerConnection = try node["requestsPerConnection"]?.integer(1...1_000_000_000)
    limits.headTimeout = try node["headTimeout"]?.timeLimit()
    limits.idle = try node["idle"]?.timeLimit()
    limits.bodyIdle = try node["bodyIdle"]?.timeLimit()
    limits.bufferBytes = try node["bufferBytes"]?.integer(16_384...(1 << 30))
    return limits
  }
}
