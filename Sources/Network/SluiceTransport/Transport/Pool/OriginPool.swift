import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The connections to one origin, and the transfers that wait for one. Only the loop uses it.
///
/// A transfer takes an HTTP/2 connection that has room, or the idle HTTP/1 connection that was used last. Otherwise the
/// transfer waits, and a new connection is begun. Whichever connection is ready first serves the transfer that has
/// waited longest.
///
/// While it is not known whether the server speaks HTTP/2, only one connection is attempted for all waiting transfers,
/// because one HTTP/2 connection may be enough for them. If a transfer gives up while such an attempt takes long, the
/// others do not rely on this attempt any more: another one is begun beside it.
final class OriginPool {
  let key: PoolKey
  /// The preamble of the last request.
  private(set) var preamble: RequestHead.Preamble
  /// The origin of the preamble, if a proxy gets requests to several origins.
  private var preambleOrigin: Origin
  /// The transport's settings, with the client certificate and the Unix socket of this pool.
  let settings: TransportSettings
  /// The host to which the connections of this pool lead: the proxy, or the server.
  let destination: PlaceAddresses
  /// The way through the proxy. Nil for direct connections.
  let way: ProxyWay?
  // There is no lasting reference cycle, because the transport releases its pools when the loop ends.
  let transport: HTTPTransport
  /// The maximum number of connections that are open or being made; nil for no limit.
  private let limit: Int?
  /// The idle HTTP/1 connections. The one that was used last is at the end.
  @exclusivity(unchecked) private var idle: [HTTP1Connection] = []
  /// The HTTP/2 connections on which the server takes new requests.
  @exclusivity(unchecked) private var multiplexed: [HTTP2Connection] = []
  private var speech: Speech
  @exclusivity(unchecked) private var waiting = TransferLine()
  /// How many streams at a time the server has allowed last.
  var lastStreamLimit: Int?
  /// The number of HTTP/2 connections that may be dead. They do not count against the limit of connections.
  var doubtedConnections = 0
  /// Whether the server has demanded HTTP/1.1 (HTTP_1_1_REQUIRED, RFC 9113 §7). It is then not offered HTTP/2 again.
  private(set) var demandsHTTP1 = false
  /// The number of requests that a new HTTP/2 connection carries until all of them have ended.
  @exclusivity(unchecked) var allowance = Int.max
  private var isBalancing = false
  /// Whether requests may have an `Expect`. False after the server has refused one, or has not sent the 100 response in
  /// time.
  var takesExpectations = true
  private var dials: [ObjectIdentifier: Dial] = [:]
  /// The number of dials that are shared (``Dial/isShared``).
  private var sharedDials = 0
  /// The maximum number of doubted dials that continue.
  private static let doubtedDials = 3
  /// The maximum number of dials among which a slow one is looked for.
  private static let watchedDials = 64
  /// The number of connections that are open, including idle ones, or being made.
  private var connectionCount = 0
  private let sessions = TLSSessions()

  /// How many transfers a connection to the origin carries.
  private enum Speech {
    case unknown
    /// HTTP/1: one transfer at a time. This is also assumed after a failed attempt, so that the waiting transfers
    /// connect at the same time instead of failing one after another.
    case single
    /// HTTP/2: at most this number of transfers at a time.
    case multiplexed(Int)
  }

  var origin: Origin { key.origin }

  init(_ key: PoolKey, _ transport: HTTPTransport) {
    let origin = key.origin
    let mayMultiplex = origin.scheme == .https ? transport.offersHTTP2 : transport.settings.assumesHTTP2
    speech = mayMultiplex ? .unknown : .single
    self.key = key
    var settings = transport.settings
    if let identity = key.identity {
      (settings.tls.certificate, settings.tls.key) = (identity.certificate, identity.key)
    }
    if let unixSocket = key.unixSocket { settings.unixSocket = unixSocket }
    self.settings = settings
    let server = settings.sockets.destination(of: SocketSettings.Place(host: origin.lookUpName, port: origin.port))
    way = key.proxy.map { ProxyWay($0, to: server, opensTunnel: key.opensTunnel, transport) }
    destination = PlaceAddresses(key.proxy?.place ?? server, transport)
    self.transport = transport
    preamble = Self.preamble(origin, transport, isForProxy: way?.opensTunnel == false)
    preambleOrigin = origin
    limit = transport.settings.maximumConnectionsPerHost.map { max(1, $0 / max(1, transport.settings.loops)) }
  }

  /// Whether the pool is for a single transfer. Its connection is closed when that transfer ends.
  private var isPrivate: Bool { key.number != 0 }

  var isUnused: Bool { connectionCount == 0 && waiting.count == 0 }

  // MARK: Transfers

  /// Finds a connection for the transfer.
  func serve(_ transfer: HTTPTransfer) {
    if transfer.options.wantsFreshConnection { return serveOverNewConnection(transfer) }
    while waiting.isEmpty, let connection = multiplexedWithRoom() {
      if connection.issue(transfer) || transfer.isOver { return }
    }
    while waiting.isEmpty, let connection = takeIdle(for: transfer) {
      if connection.issue(transfer) { return }
      makeIdle(connection)
      if transfer.isOver { return }
    }
    // No request will show whether these connections are dead.
    for connection in multiplexed where connection.streamLimit == 0 { _ = connection.tryIfSilent() }
    transfer.beginWaiting()
    waiting.append(transfer)
    balance()
  }

  /// Finds a new connection for a transfer that repeats a request whose connection was lost or did not answer.
  ///
  /// Over HTTP/1, the transfer gets a connection of its own, even above the limit. Over HTTP/2, it waits in the line, so
  /// that all such transfers share one new connection.
  private func serveOverNewConnection(_ transfer: HTTPTransfer) {
    guard case .multiplexed = speech else { return dial(for: transfer) }
    transfer.beginWaiting()
    waiting.append(transfer)
    doubtTriedConnections()
    balance()
  }

  /// Called when a request has given up while connections were tested with a PING. The others do not wait for the answer.
  private func doubtTriedConnections() {
    for connection in multiplexed where connection.isTrying { connection.doubt() }
  }

  /// Called when a connection has finished its transfer and can be used again.
  func release(_ connection: HTTP1Connection) {
    while let transfer = waiting.popFirst() {
      // If bytes have already arrived, they would be taken as the response to this request.
      if !transfer.isSafe, connection.requestCount > 0, connection.channel.hasInput() {
        connection.close()
        return serve(transfer)
      }
      if connection.issue(transfer) { return }
    }
    makeIdle(connection)
  }

  // MARK: HTTP/2

  /// The connection that has the most streams and still has room. It is preferred so that the other connections become
  /// idle.
  private func multiplexedWithRoom() -> HTTP2Connection? {
    guard let connection = fullestWithRoom, !connection.tryIfSilent() else { return nil }
    // This is done only once, because a server that never stops sending must not block the loop.
    return connection.catchUp() ? fullestWithRoom : connection
  }

  private var fullestWithRoom: HTTP2Connection? {
    var found: HTTP2Connection?
    for connection in multiplexed where connection.room > 0 {
      if let other = found, other.openStreams >= connection.openStreams { continue }
      found = connection
    }
    return found
  }

  /// Called when a stream has ended, or the server allows more streams.
  func didMakeRoom(_ connection: HTTP2Connection) {
    if case .multiplexed = speech { speech = .multiplexed(connection.streamLimit) }
    while connection.room > 0, let transfer = waiting.popFirst() {
      _ = connection.issue(transfer)
    }
    balance()
  }

  /// Called when the server takes no new requests on the connection.
  func stopUsing(_ connection: HTTP2Connection) {
    withdraw(connection)
    balance()
  }

  /// Removes a connection that takes no new requests.
  ///
  /// If the server has allowed no streams on it, the transfer that has waited longest fails. Otherwise connections would
  /// be made, without end, for a server that closes each of them.
  private func withdraw(_ connection: HTTP2Connection) {
    guard let index = multiplexed.firstIndex(where: { $0 === connection }) else { return }
    multiplexed.remove(at: index)
    guard connection.requestCount == 0, connection.streamLimit == 0 else { return }
    waiting.popFirst()?.fail(TransportFailure.withoutStreams(origin))
  }

  /// Called when the connection may be dead. Transfers that wait for it then need another one.
  func didDoubt(_ connection: HTTP2Connection) { balance() }

  /// Called when the server demands HTTP/1.1. Returns whether requests can be sent again over HTTP/1.1: this is not
  /// possible if the settings prescribe HTTP/2 in clear text.
  func downgrade() -> Bool {
    guard origin.scheme == .https else { return false }
    guard !demandsHTTP1 else { return true }
    demandsHTTP1 = true
    speech = .single
    let connections = multiplexed
    multiplexed = []
    for connection in connections { connection.drain() }
    balance()
    return true
  }

  /// Called when the connection has no streams left.
  func didBecomeIdle(_ connection: HTTP2Connection) {
    guard keepsMoreIdle else { return connection.closeIdle() }
    connection.isIdle = true
    connection.idleSince = transport.loop.turnBegan
    transport.idleCount += 1
    transport.watchIdle()
  }

  func didClose(_ connection: HTTP2Connection) {
    connectionCount -= 1
    if connection.isIdle { transport.idleCount -= 1 }
    withdraw(connection)
    balance()
  }

  // MARK: New connections

  func didConnect(_ connection: HTTPConnection, _ dial: Dial) {
    forget(dial)
    if let connection = connection as? HTTP2Connection { return didConnect(connection, for: dial.owner) }
    guard let connection = connection as? HTTP1Connection else { return }
    speech = .single
    if let owner = dial.owner {
      if owner.isOver || !connection.issue(owner) { release(connection) }
    } else {
      release(connection)
    }
    balance()
  }

  private func didConnect(_ connection: HTTP2Connection, for owner: HTTPTransfer?) {
    guard !demandsHTTP1 else {
      // The connection was begun before the server has demanded HTTP/1.1. The engine sends the request again.
      connection.drain()
      (owner ?? waiting.popFirst())?.fail(TransportFailure.downgraded(origin))
      return balance()
    }
    speech = .multiplexed(connection.streamLimit)
    multiplexed.append(connection)
    if let owner, !owner.isOver { _ = connection.issue(owner) }
    didMakeRoom(connection)
  }

  /// Called when a connection could not be made. The transfer that has waited longest gets the error.
  func didNotConnect(_ error: TransportError, _ dial: Dial) {
    forget(dial)
    speech = .single
    connectionCount -= 1
    destination.distrust()
    way?.server?.distrust()
    // No transfer relies on a doubted dial, so none gets its error.
    let transfer = dial.owner ?? (dial.isDoubted ? nil : waiting.popFirst())
    transfer?.times.fail(dial.times, at: Loop.now)
    transfer?.fail(error)
    balance()
  }

  /// Passes a challenge of the handshake to a transfer that waits for a connection. From then on, this connection is
  /// only for this transfer. The transfer also leaves the line, so that no other connection carries its request before
  /// the delegate has decided.
  func decide(_ challenge: HandshakeChallenge, for dial: Dial) {
    if dial.owner == nil, let asker = waiting.first(where: { $0.waitsInLine && !$0.isOver }) {
      if dial.isShared { sharedDials -= 1 }
      dial.owner = asker
      asker.leaveLine(for: dial)
      waiting.waiterDidEnd()
    }
    guard let asker = dial.owner, !asker.isOver else { return drop(dial) }
    asker.ask(challenge) { [self] decision in
      guard dials[ObjectIdentifier(dial)] != nil else { return }
      switch decision {
      case nil: drop(dial)
      case .refuse: refuse(dial, asker, "the delegate refuses the connection")
      case .performDefaultHandling:
        if case .serverTrust(let trust) = challenge, let failure = trust.failure {
          return refuse(dial, asker, failure)
        }
        dial.goOn(.performDefaultHandling)
      case let decision?: dial.goOn(decision)
      }
    }
  }

  /// Ends the transfer that was asked and has refused the connection. The next connection asks another waiting
  /// transfer.
  private func refuse(_ dial: Dial, _ asker: HTTPTransfer, _ reason: String) {
    asker.times.fail(dial.times, at: Loop.now)
    // This makes the transfer abandon its dial.
    asker.fail(TransportFailure.tls(origin, TLSFailure(.verification, reason), settings))
  }

  /// Gives up a connection that is being made, because no transfer waits for it.
  private func drop(_ dial: Dial) {
    forget(dial)
    connectionCount -= 1
    dial.cancel()
    balance()
  }

  /// Called when a transfer has ended and a connection was being made for it alone.
  func abandon(_ dial: Dial) {
    if dials[ObjectIdentifier(dial)] != nil { drop(dial) }
  }

  /// Prepares a request that a proxy itself gets: the preamble for its origin, and what the proxy is told about the user.
  func prepare(_ headers: inout HeaderFields, _ request: borrowing Request, for way: ProxyWay) {
    way.addAuthorization(to: &headers, request)
    guard !request.url.isAt(preambleOrigin) else { return }
    preambleOrigin = request.url.origin
    preamble = Self.preamble(preambleOrigin, transport, isForProxy: true)
  }

  private static func preamble(
    _ origin: Origin, _ transport: HTTPTransport, isForProxy: Bool
  ) -> RequestHead.Preamble {
    RequestHead.Preamble(
      origin, transport.defaults, isForProxy: isForProxy,
      version: transport.settings.httpVersion == .http10 ? .http10 : .http11)
  }

  /// Shows the head of a CONNECT, if a transfer that waits for the connection wants to show its heads.
  func tellTunnelHead(_ head: [UInt8], _ owner: HTTPTransfer?) {
    guard let tell = settings.onSentHead, let transfer = owner ?? waiting.first(where: { !$0.isOver }),
      transfer.options.tellsHead
    else { return }
    tell(head)
  }

  /// Begins the connections that the waiting transfers need, within the limit.
  private func balance() {
    if isPrivate, isUnused { return transport.forget(self) }
    // A connection that fails at once calls this function again. That inner call returns at the guard, and the loop of
    // the outer call continues with the next connection.
    guard !isBalancing else { return }
    isBalancing = true
    defer { isBalancing = false }
    while !transport.isClosed, sharedDials < wantedDials,
      limit.map({ connectionCount - doubtedConnections < $0 }) ?? true
    {
      dial(for: nil)
    }
  }

  /// How many dials should be under way for the waiting transfers.
  private var wantedDials: Int {
    let waiters = waiting.count
    guard waiters > 0 else { return 0 }
    switch speech {
    case .single: return waiters
    case .unknown: return dials.values.contains(where: \.isAsking) ? 0 : 1
    case .multiplexed(let streams):
      // A connection that is being tested with a PING may become usable soon.
      if multiplexed.contains(where: { $0.isTrying && !$0.isDoubted }) { return 0 }
      // If a server refuses streams on two connections, more connections would not help.
      if multiplexed.count(where: \.refusals.isRefusing) > 1 { return 0 }
      // More connections to a server that allows no streams would not help.
      guard streams > 0 else { return multiplexed.isEmpty ? 1 : 0 }
      let unready = multiplexed.count { $0.streamLimit == 0 }
      return max(0, (waiters + streams - 1) / streams - unready)
    }
  }

  /// Called when a transfer in the line has ended.
  func waiterDidEnd() {
    waiting.waiterDidEnd()
    if isPrivate {
      guard waiting.count == 0 else { return }
      for dial in dials.values { drop(dial) }
    } else {
      doubtTriedConnections()
      doubtSlowestDial()
    }
  }

  /// A transfer has given up before it got a connection. The server may never answer the attempt that has taken longest,
  /// so it no longer counts as a connection for the waiting transfers. It continues, because a slow connection may still
  /// be of use; but not if the limit leaves no room beside it.
  private func doubtSlowestDial() {
    // No transfer relies on one attempt if many are under way.
    guard dials.count <= Self.watchedDials else { return }
    let slowest = dials.values.filter(\.isShared).min { $0.beganAt < $1.beganAt }
    guard let slowest, slowest.isSlow(at: transport.loop.turnBegan) else { return }
    slowest.isDoubted = true
    sharedDials -= 1
    if let limit, connectionCount >= limit { return drop(slowest) }
    let doubted = dials.values.filter { $0.isDoubted && $0.owner == nil }
    if doubted.count > Self.doubtedDials, let oldest = doubted.min(by: { $0.beganAt < $1.beganAt }) { drop(oldest) }
    balance()
  }

  private func dial(for owner: HTTPTransfer?) {
    let dial = Dial(self, owner: owner)
    connectionCount += 1
    dials[ObjectIdentifier(dial)] = dial
    if let owner { owner.beginWaiting(for: dial) } else { sharedDials += 1 }
    dial.begin()
  }

  private func forget(_ dial: Dial) {
    guard dials.removeValue(forKey: ObjectIdentifier(dial)) != nil else { return }
    if dial.isShared { sharedDials -= 1 }
  }

  /// Makes the TLS channel to the server for a connection of this pool.
  ///
  /// - Parameter below: the connection over TLS to the proxy, if there is one.
  func makeTLS(_ descriptor: Int32, inside below: TLSChannel?) throws(TransportError) -> TLSChannel {
    do throws(TLSFailure) {
      let decision = key.handshake.flatMap {
        $0.decidesTrust ? TrustDecision(origin, $0.scope, transport.approvals) : nil
      }
      let choice = key.handshake?.choosesCertificate == true ? CertificateChoice(origin) : nil
      return try TLSChannel(
        descriptor, inside: below, transport.tlsContext(settings.tls, mayOfferHTTP2: !demandsHTTP1), sessions,
        host: origin.host, decision, choice)
    } catch { throw TransportFailure.tls(origin, error, settings) }
  }

  // MARK: Idle connections

  /// Called when a connection was closed.
  func didClose(_ connection: HTTP1Connection) {
    connectionCount -= 1
    if connection.isIdle, let index = idle.firstIndex(where: { $0 === connection }) {
      idle.remove(at: index)
      transport.idleCount -= 1
    }
    balance()
  }

  /// The connection that has been idle for the longest time; nil if no connection is idle.
  var oldestIdle: HTTPConnection? {
    var oldest: HTTPConnection? = idle.first
    for connection in multiplexed where connection.isIdle {
      if connection.idleSince < oldest?.idleSince ?? .distantFuture { oldest = connection }
    }
    return oldest
  }

  /// Closes connections that have been idle for too long. Returns the time at which the oldest of the remaining idle
  /// connections became idle.
  func closeIdle(at now: Instant) -> Instant? {
    while let oldest = oldestIdle {
      guard oldest.idleSince + HTTPTransport.idleLimit <= now else { return oldest.idleSince }
      oldest.closeIdle()
    }
    return nil
  }

  func close() {
    for dial in dials.values { dial.cancel() }
    dials = [:]
    while let connection = idle.last { connection.close() }
    while let connection = multiplexed.last { connection.closeIdle() }
  }

  private var keepsMoreIdle: Bool { transport.keepsMoreIdle && !isPrivate }

  private func makeIdle(_ connection: HTTP1Connection) {
    guard keepsMoreIdle else { return connection.close() }
    connection.isIdle = true
    connection.idleSince = transport.loop.turnBegan
    connection.idleRound = transport.round
    idle.append(connection)
    transport.idleCount += 1
    transport.watchIdle()
  }

  /// Takes the idle connection that was used last. An idle connection on which bytes or the end have arrived is closed,
  /// and the next one is tried.
  private func takeIdle(for transfer: HTTPTransfer) -> HTTP1Connection? {
    while let connection = idle.last {
      guard connection.usableUntil > transport.loop.turnBegan, connection.isSilent(for: transfer) else {
        connection.close()
        continue
      }
      idle.removeLast()
      transport.idleCount -= 1
      connection.isIdle = false
      return connection
    }
    return nil
  }
}

// What went wrong on the way to the proxy or, without a proxy, to the server.
extension OriginPool {
  func nameFailure(_ error: NameError) -> TransportError {
    guard let host = way?.proxy.place.host else { return TransportFailure.name(origin, error) }
    return proxyFailure("cannot resolve the proxy \(PlainText.quote(host)): \(error.advice)")
  }

  func connectFailure(_ address: SocketAddress, _ code: Int32) -> TransportError {
    guard let name = way?.proxy.name else { return TransportFailure.connect(origin, address, code) }
    return proxyFailure("no connection to the proxy \(name): \(SystemError.text(code))")
  }

  var withoutAddress: TransportError {
    guard let name = way?.proxy.name else { return TransportFailure.withoutAddress(origin, settings) }
    return proxyFailure("no connection to the proxy \(name): it has no \(TransportFailure.kind(settings))")
  }

  /// Who may close a connection of this pool, as a phrase.
  var peer: String {
    guard let way else { return "the server" }
    return way.opensTunnel ? "the server or the proxy \(way.proxy.name)" : "the proxy \(way.proxy.name)"
  }

  func proxyFailure(_ reason: String) -> TransportError { TransportFailure.proxy(origin, reason, settings.names) }
}
