import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The connections to one origin, and the transfers that wait for one. Only the loop uses it.
///
/// A transfer takes an HTTP/2 connection that has room, or the idle HTTP/1 connection that was used last. Otherwise the
/// transfer waits, and a new connection is begun. Whichever connection is ready first serves the transfer that has
/// waited longest. A ``PoolMachine`` decides which connections are begun and given up, and the pool performs that. An
/// idle connection, or a stream that is free, serves a transfer without a decision.
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
  /// The idle HTTP/1 connections. The one that was used last is at the end.
  @exclusivity(unchecked) private var idle: [HTTP1Connection] = []
  /// The HTTP/2 connections on which the server takes new requests.
  @exclusivity(unchecked) private var multiplexed: [HTTP2Connection] = []
  @exclusivity(unchecked) private var waiting = TransferLine()
  @exclusivity(unchecked) private var machine: PoolMachine
  private var isBalancing = false
  /// Whether requests may have an `Expect`. False after the server has refused one, or has not sent the 100 response in
  /// time.
  var takesExpectations = true
  /// The dials by their numbers in the machine.
  private var dials: [Int: Dial] = [:]
  let sessions = TLSSessions()

  var origin: Origin { key.origin }

  init(_ key: PoolKey, _ transport: HTTPTransport) {
    let origin = key.origin
    let isSecure = origin.scheme == .https
    machine = PoolMachine(
      PoolMachine.Plan(
        mayMultiplex: isSecure ? transport.offersHTTP2 : transport.settings.assumesHTTP2, mayDowngrade: isSecure,
        isPrivate: key.isPrivate,
        limit: transport.settings.maximumConnectionsPerHost.map { max(1, $0 / max(1, transport.settings.loops)) }))
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
    preamble = RequestHead.Preamble(origin, transport, isForProxy: way?.opensTunnel == false)
    preambleOrigin = origin
  }

  var isUnused: Bool { machine.isUnused }

  /// Whether a new connection may offer HTTP/2. False after the server has demanded HTTP/1.1.
  var mayOfferHTTP2: Bool { !machine.demandsHTTP1 }
  /// How many streams at a time the server has allowed last.
  var lastStreamLimit: Int?
  /// The number of requests that a new HTTP/2 connection carries until all of them have ended.
  @exclusivity(unchecked) var allowance = Int.max

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
    putInLine(transfer)
    balance()
  }

  /// Finds a new connection for a transfer that repeats a request whose connection was lost or did not answer.
  private func serveOverNewConnection(_ transfer: HTTPTransfer) {
    if case .begin(let number) = machine.handle(.newConnectionWanted) { return begin(number, for: transfer) }
    putInLine(transfer)
    doubtTriedConnections()
    balance()
  }

  private func putInLine(_ transfer: HTTPTransfer) {
    transfer.beginWaiting()
    waiting.append(transfer)
    machine.waiters = waiting.count
  }

  /// Takes the transfer that has waited longest out of the line.
  private func takeWaiter() -> HTTPTransfer? {
    guard !waiting.isEmpty else { return nil }
    let transfer = waiting.popFirst()
    machine.waiters = waiting.count
    return transfer
  }

  /// Notes that a transfer in the line waits no more.
  private func waiterDidLeave() {
    waiting.waiterDidEnd()
    machine.waiters = waiting.count
  }

  /// Called when a transfer in the line has ended.
  func waiterDidEnd() {
    waiterDidLeave()
    switch machine.handle(.waiterEnded) {
    case .doubtTried:
      doubtTriedConnections()
      drop(machine.handle(.triedDoubted(transport.loop.turnBegan)))
    case let action: drop(action)
    }
  }

  /// Called when a request has given up while connections were tested with a PING. The others do not wait for the answer.
  private func doubtTriedConnections() {
    for connection in multiplexed where connection.isTrying { connection.doubt() }
  }

  /// Called when a connection has finished its transfer and can be used again.
  func release(_ connection: HTTP1Connection) {
    while let transfer = takeWaiter() {
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
    guard !multiplexed.isEmpty, let connection = multiplexed.fullestWithRoom, !connection.tryIfSilent() else {
      return nil
    }
    // This is done only once, because a server that never stops sending must not block the loop.
    return connection.catchUp() ? multiplexed.fullestWithRoom : connection
  }

  /// Called when a stream has ended, or the server allows more streams.
  func didMakeRoom(_ connection: HTTP2Connection) {
    machine.madeRoom(streams: connection.streamLimit)
    while connection.room > 0, let transfer = takeWaiter() {
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
  private func withdraw(_ connection: HTTP2Connection) {
    guard let index = multiplexed.firstIndex(where: { $0 === connection }) else { return }
    multiplexed.remove(at: index)
    let action = machine.handle(.stopped(requests: connection.requestCount, streams: connection.streamLimit))
    if action == .failFirst { takeWaiter()?.fail(TransportFailure.withoutStreams(origin)) }
  }

  /// Called when the connection may be dead. Transfers that wait for it then need another one.
  func didDoubt(_ connection: HTTP2Connection) {
    _ = machine.handle(.doubted)
    balance()
  }

  /// Called when the doubt has ended, because the peer has answered or because the connection closes.
  func didEndDoubt(_ connection: HTTP2Connection) { _ = machine.handle(.doubtEnded) }

  /// Called when the server demands HTTP/1.1. Returns whether requests can be sent again over HTTP/1.1: this is not
  /// possible if the settings prescribe HTTP/2 in clear text.
  func downgrade() -> Bool {
    let action = machine.handle(.http1Demanded)
    guard action == .drain else { return action != .refuse }
    let connections = multiplexed
    multiplexed = []
    for connection in connections { connection.drain() }
    balance()
    return true
  }

  /// Called when the connection has no streams left.
  func didBecomeIdle(_ connection: HTTP2Connection) {
    guard keepsMoreIdle else { return connection.closeIdle() }
    transport.pools.beginIdle(connection)
  }

  func didClose(_ connection: HTTP2Connection) {
    _ = machine.handle(.closed)
    if connection.isIdle { transport.pools.endIdle(connection) }
    withdraw(connection)
    balance()
  }

  // MARK: New connections

  func didConnect(_ connection: HTTPConnection, _ dial: Dial) {
    dials[dial.number] = nil
    if let connection = connection as? HTTP2Connection { return didConnect(connection, dial) }
    guard let connection = connection as? HTTP1Connection else { return }
    _ = machine.handle(.connected(dial.number, .http1))
    if let owner = dial.owner, !owner.isOver, connection.issue(owner) { return balance() }
    release(connection)
    balance()
  }

  private func didConnect(_ connection: HTTP2Connection, _ dial: Dial) {
    let action = machine.handle(.connected(dial.number, .http2(streams: connection.streamLimit)))
    guard action == .use else {
      // The engine sends the request again.
      connection.drain()
      loser(action, dial)?.fail(TransportFailure.downgraded(origin))
      return balance()
    }
    multiplexed.append(connection)
    if let owner = dial.owner, !owner.isOver { _ = connection.issue(owner) }
    didMakeRoom(connection)
  }

  /// The transfer that gets the error of a connection.
  private func loser(_ action: PoolMachine.Action, _ dial: Dial) -> HTTPTransfer? {
    switch action {
    case .failOwner: dial.owner
    case .failFirst: takeWaiter()
    default: nil
    }
  }

  /// Called when a connection could not be made.
  func didNotConnect(_ error: TransportError, _ dial: Dial) {
    dials[dial.number] = nil
    let action = machine.handle(.failed(dial.number))
    destination.distrust()
    way?.server?.distrust()
    let transfer = loser(action, dial)
    transfer?.times.fail(dial.times, at: Loop.now)
    transfer?.fail(error)
    balance()
  }

  /// Called when the dial has the addresses of its host.
  func didFindAddresses(_ dial: Dial) { _ = machine.handle(.foundAddresses(dial.number, began: dial.beganAt)) }

  /// Chooses the transfer that decides about the handshake of the dial. Returns nil if no transfer waits. The connection
  /// then belongs to this transfer, which leaves the line: no other connection may carry its request before its
  /// delegate has decided.
  func asker(for dial: Dial) -> HTTPTransfer? {
    if dial.owner == nil, let asker = waiting.first(where: { $0.waitsInLine && !$0.isOver }) {
      dial.owner = asker
      asker.leaveLine(for: dial)
      waiterDidLeave()
    }
    guard let asker = dial.owner, !asker.isOver else { return nil }
    _ = machine.handle(.asked(dial.number))
    return asker
  }

  func isUnderWay(_ dial: Dial) -> Bool { dials[dial.number] != nil }

  /// Continues the handshake when a delegate has accepted it.
  func goOn(_ dial: Dial, _ decision: HandshakeDecision) {
    _ = machine.handle(.accepted(dial.number))
    dial.goOn(decision)
  }

  /// Gives up a connection that is being made, because no transfer wants it.
  func abandon(_ dial: Dial) { drop(machine.handle(.abandoned(dial.number))) }

  private func drop(_ action: PoolMachine.Action) {
    guard case .drop(let numbers) = action else { return }
    for number in numbers { dials.removeValue(forKey: number)?.cancel() }
    balance()
  }

  /// Prepares a request that a proxy itself gets: the preamble for its origin, and what the proxy is told about the user.
  func prepare(_ headers: inout HeaderFields, _ request: borrowing Request, for way: ProxyWay) {
    way.addAuthorization(to: &headers, request)
    guard !request.url.isAt(preambleOrigin) else { return }
    preambleOrigin = request.url.origin
    preamble = RequestHead.Preamble(preambleOrigin, transport, isForProxy: true)
  }

  /// Shows the head of a CONNECT, if a transfer that waits for the connection wants to show its heads.
  func tellTunnelHead(_ head: [UInt8], _ owner: HTTPTransfer?) {
    guard let tell = settings.onSentHead, let transfer = owner ?? waiting.first(where: { !$0.isOver }),
      transfer.options.tellsHead
    else { return }
    tell(head)
  }

  /// Begins the connections that the waiting transfers need.
  private func balance() {
    if machine.isSpent { return transport.pools.forget(self) }
    // A connection that fails at once calls this function again. That inner call returns at the guard, and the loop of
    // the outer call continues with the next connection.
    guard machine.waiters > 0, !isBalancing else { return }
    isBalancing = true
    defer { isBalancing = false }
    while !transport.isClosed, let number = machine.nextDial(multiplexed.survey) { begin(number, for: nil) }
  }

  private func begin(_ number: Int, for owner: HTTPTransfer?) {
    let dial = Dial(self, number, owner: owner)
    dials[number] = dial
    owner?.beginWaiting(for: dial)
    dial.begin()
  }

  // MARK: Idle connections

  /// Called when a connection was closed.
  func didClose(_ connection: HTTP1Connection) {
    _ = machine.handle(.closed)
    if connection.isIdle, let index = idle.firstIndex(where: { $0 === connection }) {
      idle.remove(at: index)
      transport.pools.endIdle(connection)
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

  func close() {
    for dial in dials.values { dial.cancel() }
    dials = [:]
    while let connection = idle.last { connection.close() }
    while let connection = multiplexed.last { connection.closeIdle() }
  }

  private var keepsMoreIdle: Bool { transport.keepsMoreIdle && !key.isPrivate }

  private func makeIdle(_ connection: HTTP1Connection) {
    guard keepsMoreIdle else { return connection.close() }
    idle.append(connection)
    transport.pools.beginIdle(connection)
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
      transport.pools.endIdle(connection)
      return connection
    }
    return nil
  }
}

extension RequestHead.Preamble {
  fileprivate convenience init(_ origin: Origin, _ transport: HTTPTransport, isForProxy: Bool) {
    self.init(
      origin, transport.defaults, isForProxy: isForProxy,
      version: transport.settings.httpVersion == .http10 ? .http10 : .http11)
  }
}
