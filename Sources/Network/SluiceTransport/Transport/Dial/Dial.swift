import CLinux
import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Makes one connection: looks up the host, connects, asks the proxy for a tunnel if there is one, and sets up TLS if
/// the scheme is https. Only the loop uses it.
///
/// Tries the addresses one after the other, and takes the first connection that succeeds (RFC 8305 §5). An attempt
/// begins 250 ms after the previous attempt, or as soon as the previous attempt has failed.
final class Dial {
  /// The time that each step took, in nanoseconds.
  struct Times {
    var nameLookup: UInt64 = 0
    var connect: UInt64 = 0
    var tunnel: UInt64 = 0
    var tlsHandshake: UInt64 = 0
  }

  /// The time between two attempts (RFC 8305 §8).
  static let attemptDelay = Duration.milliseconds(250)
  /// How long the text of a proxy's refusal is awaited.
  private static let refusalDelay = Duration.milliseconds(500)

  let pool: OriginPool
  /// The number of this dial in the pool's machine.
  let number: Int
  /// The only transfer that can get the connection; nil if any waiting transfer can.
  var owner: HTTPTransfer?
  private(set) var times = Times()
  private var untried: ArraySlice<SocketAddress> = []
  private var attempts: [ConnectAttempt] = []
  private var handshake: TLSHandshake?
  private var tunnel: Tunnel?
  /// The server to which the proxy connects; nil before its address is known, and without a tunnel.
  private var target: TunnelTarget?
  /// The further addresses of the server, for a proxy that cannot connect to the target.
  private var otherTargets: ArraySlice<TunnelTarget> = []
  /// Whether the proxy has refused, and the text of the refusal is awaited.
  private var isRefused = false
  /// How many challenges of the proxy were answered.
  private var answeredChallenges = 0
  /// When the tunnel was open; without a tunnel, when the socket was connected.
  private var reachedAt = Instant(nanoseconds: 0)
  /// The events that epoll has reported for the socket since it is connected.
  private var events: UInt32 = 0
  /// The socket that is connected.
  private var peer: ConnectAttempt?
  private var connectedAt = Instant(nanoseconds: 0)
  private var lastFailure: TransportError?
  private let limitTimer = LoopTimer()
  private let attemptTimer = LoopTimer()
  private(set) var beganAt = Instant(nanoseconds: 0)
  private var isLookingUp = true
  /// Whether a delegate was asked about the handshake and has not answered yet.
  private var isAsking = false
  private var isOver = false

  init(_ pool: OriginPool, _ number: Int, owner: HTTPTransfer?) {
    self.pool = pool
    self.number = number
    self.owner = owner
  }

  private var loop: Loop { pool.transport.loop }
  private var settings: TransportSettings { pool.settings }

  func begin() {
    beganAt = loop.now
    loop.arm(limitTimer, at: beganAt + settings.connectTimeout, for: self)
    findTarget()
  }

  /// Finds the address of the server, if the proxy does not look it up, and then connects.
  private func findTarget() {
    guard let way = pool.way, way.opensTunnel else { return findAddresses() }
    guard let server = way.server else {
      target = way.namedTarget
      return findAddresses()
    }
    server.find { [self] found, wasLookedUp in
      guard !isOver else { return }
      if wasLookedUp { times.nameLookup = loop.now.nanoseconds(since: beganAt) }
      switch found {
      case .failure(let error): fail(TransportFailure.name(pool.origin, error))
      case .success(let addresses):
        otherTargets = way.targets(addresses)[...]
        target = otherTargets.popFirst()
        target == nil ? fail(TransportFailure.withoutAddress(pool.origin, settings)) : findAddresses()
      }
    }
  }

  private func findAddresses() {
    if let path = settings.unixSocket {
      return connect(to: [SocketAddress(unixSocket: path)].compactMap { $0 })
    }
    pool.destination.find { [self] found, wasLookedUp in
      switch found {
      case .success(let addresses): connect(to: addresses, wasLookedUp: wasLookedUp)
      case .failure(let error): fail(pool.nameFailure(error))
      }
    }
  }

  /// - Parameter wasLookedUp: whether the dial has waited for the addresses.
  private func connect(to addresses: [SocketAddress], wasLookedUp: Bool = false) {
    guard !isOver else { return }
    isLookingUp = false
    pool.didFindAddresses(self)
    if wasLookedUp { times.nameLookup = loop.now.nanoseconds(since: beganAt) }
    untried = addresses[...]
    tryNext()
  }

  /// Ends the dial without telling the pool.
  func cancel() {
    isOver = true
    loop.disarm(limitTimer)
    loop.disarm(attemptTimer)
    for attempt in attempts { attempt.close() }
    attempts = []
    closePeer()
  }

  func fail(_ error: TransportError) {
    guard !isOver else { return }
    let now = loop.now
    if isLookingUp {
      times.nameLookup = now.nanoseconds(since: beganAt)
    } else if handshake?.channel.isForServer == true {
      times.tlsHandshake = now.nanoseconds(since: reachedAt)
    } else if handshake != nil || tunnel != nil {
      times.tunnel = now.nanoseconds(since: connectedAt)
    } else if let attempt = attempts.first {
      times.connect = now.nanoseconds(since: attempt.beganAt)
    }
    cancel()
    pool.didNotConnect(error, self)
  }

  /// Called when an attempt is connected or has failed.
  func attemptIsReady(_ attempt: ConnectAttempt, _ events: UInt32) {
    guard !isOver, attempts.contains(where: { $0 === attempt }) else { return }
    let code = attempt.socket.connectError()
    guard code == 0 else { return attemptHasFailed(attempt, code) }
    // The event may be for an earlier socket that had the same descriptor number.
    guard attempt.socket.isConnected else { return }
    // The other attempts are not needed any more.
    for other in attempts where other !== attempt { other.close() }
    attempts = []
    untried = []
    loop.disarm(attemptTimer)
    connectedAt = loop.now
    reachedAt = connectedAt
    times.connect = connectedAt.nanoseconds(since: attempt.beganAt)
    self.events = events
    peer = attempt
    guard let way = pool.way, way.proxy.kind == .https else {
      return didReachProxy(Channel(socket: attempt.socket, tls: nil))
    }
    do throws(TLSFailure) {
      handshake(over: try way.makeTLS(attempt.socket.descriptor), attempt.socket)
    } catch { failToSecureProxy(way.proxy, error) }
  }

  private func failToSecureProxy(_ proxy: Proxy, _ failure: TLSFailure) {
    let isVerification = failure.moment == .verification
    let advice = isVerification ? TLSAdvice(failure.detail, settings).advice(at: .verification) : ""
    let error = pool.proxyFailure("no TLS connection to the proxy \(proxy.name): \(failure.detail)\(advice)")
    fail(error.with(isVerification ? .proxyCertificate : .proxyTLS))
  }

  private func handshake(over channel: TLSClientChannel, _ socket: StreamSocket) {
    let handshake = TLSHandshake(Channel(socket: socket, tls: channel), channel, self)
    self.handshake = handshake
    pool.transport.place(handshake, socket.descriptor)
    handshakeIsReady(handshake, 0)
  }

  /// Continues the handshake when the peer has sent bytes, or when the socket can take more.
  func handshakeIsReady(_ handshake: TLSHandshake, _ events: UInt32) {
    guard !isOver, self.handshake === handshake else { return }
    self.events |= events
    switch handshake.channel.handshake() {
    case .wouldBlock: return
    case .done:
      self.handshake = nil
      guard handshake.channel.isForServer else { return didReachProxy(handshake.secured) }
      times.tlsHandshake = loop.now.nanoseconds(since: reachedAt)
      finish(handshake.secured, events: EPOLLIN.rawValue)
    case .asks(let challenge):
      guard !isAsking else { return }
      isAsking = true
      // While delegates decide, the dial's time limit is suspended, because they have their own deadlines.
      loop.disarm(limitTimer)
      pool.decide(challenge, for: self)
    case .failed(let failure):
      if !handshake.channel.isForServer, let proxy = pool.way?.proxy {
        return failToSecureProxy(proxy, failure)
      }
      fail(TransportFailure.tls(pool.origin, failure, settings, through: pool.way?.proxy))
    }
  }

  // MARK: Proxies

  /// Called when bytes can be sent to the proxy, or to the server if there is no proxy.
  private func didReachProxy(_ channel: Channel) {
    guard let way = pool.way, way.opensTunnel, let target else { return didReachServer(channel) }
    do throws(ProxyFault) {
      let dialogue = try way.dialogue(to: target)
      if way.proxy.isHTTP { pool.tellTunnelHead(dialogue.opening, owner) }
      let tunnel = Tunnel(channel, dialogue, self)
      self.tunnel = tunnel
      pool.transport.place(tunnel, channel.socket.descriptor)
      tunnelIsReady(tunnel, 0)
    } catch { fail(because: TunnelRefusal(reason: error.reason)) }
  }

  /// Continues the talk with the proxy when it has sent bytes, or when the socket can take more.
  func tunnelIsReady(_ tunnel: Tunnel, _ events: UInt32) {
    guard !isOver, self.tunnel === tunnel else { return }
    self.events |= events
    switch tunnel.proceed(pool.transport.input) {
    case .waiting:
      // The text of a refusal may never arrive.
      guard tunnel.refusalAtEnd != nil, !isRefused else { return }
      isRefused = true
      loop.arm(limitTimer, at: min(loop.now + Self.refusalDelay, beganAt + settings.connectTimeout), for: self)
    case .open:
      self.tunnel = nil
      reachedAt = loop.now
      times.tunnel = reachedAt.nanoseconds(since: connectedAt)
      didReachServer(tunnel.channel)
    case .refused(let refusal): didRefuse(refusal)
    case .lost(let code):
      didRefuse(TunnelRefusal(reason: TransportFailure.proxyLost(tunnel.channel.tls?.failure, code)))
    }
  }

  /// Asks once more over a new connection if the proxy demands proof of the user and there is an answer, or if the
  /// server has another address.
  private func didRefuse(_ refusal: TunnelRefusal) {
    guard let way = pool.way else { return }
    if !refusal.challenges.isEmpty,
      way.authorization?.take(refusal.challenges, answered: answeredChallenges, &loop.random) == true
    {
      answeredChallenges += 1
      return askAgain()
    }
    if refusal.isOfTarget, let other = otherTargets.popFirst() {
      target = other
      return askAgain()
    }
    fail(because: refusal)
  }

  private func askAgain() {
    if isRefused { loop.arm(limitTimer, at: beganAt + settings.connectTimeout, for: self) }
    isRefused = false
    closePeer()
    findAddresses()
  }

  private func fail(because refusal: TunnelRefusal) {
    guard let way = pool.way else { return }
    let failure = pool.proxyFailure("the proxy \(way.proxy.name): \(refusal.reason)")
    fail(failure.with(way.proxy.isHTTP ? .tunnel : .socks))
  }

  /// Called when bytes can be sent to the server.
  private func didReachServer(_ channel: Channel) {
    guard pool.origin.scheme == .https, let peer else { return finish(channel, events: tunnelEvents) }
    do throws(TransportError) {
      handshake(over: try pool.makeTLS(peer.socket.descriptor, inside: channel.tls), peer.socket)
    } catch { fail(error) }
  }

  /// Behind a tunnel, the server may have sent bytes that epoll has already reported.
  private var tunnelEvents: UInt32 { target == nil && pool.way?.proxy.kind != .https ? 0 : EPOLLIN.rawValue }

  private func closePeer() {
    handshake = nil
    tunnel = nil
    peer?.close()
    peer = nil
  }

  /// Continues the handshake when a delegate has answered the challenge without refusing.
  func goOn(_ answer: HandshakeDecision) {
    guard !isOver, isAsking, let handshake else { return }
    isAsking = false
    loop.arm(limitTimer, at: loop.now + settings.connectTimeout, for: self)
    handshake.channel.answer(answer)
    handshakeIsReady(handshake, 0)
  }

  /// - Parameter events: events that epoll will not report again, besides those that it has reported.
  private func finish(_ channel: Channel, events more: UInt32) {
    guard let peer else { return }
    self.peer = nil
    cancel()
    let events = events | more
    let pool = pool
    guard let connection = make(channel, peer.address) else {
      pool.transport.remove(channel.socket.descriptor)
      channel.close()
      return pool.didNotConnect(TransportFailure.socket(pool.origin, ENOMEM), self)
    }
    if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue) != 0 { connection.hasHungUp = true }
    pool.transport.place(connection, channel.socket.descriptor)
    pool.didConnect(connection, self)
    if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { pool.transport.readLater(connection) }
  }

  /// Makes a connection for the protocol that the server has chosen (RFC 7301). Returns nil if there is no memory.
  private func make(_ channel: Channel, _ address: SocketAddress) -> HTTPConnection? {
    let isHTTP2 = channel.isSecure ? channel.tls?.hasChosenHTTP2 == true : settings.assumesHTTP2
    guard isHTTP2 else {
      return HTTP1Connection(channel, pool, address.text, times)
    }
    return HTTP2Connection(on: channel, pool, address.text, times)
  }

  private func attemptHasFailed(_ attempt: ConnectAttempt, _ code: Int32) {
    attempt.close()
    attempts.removeAll { $0 === attempt }
    lastFailure = pool.connectFailure(attempt.address, code)
    tryNext()
  }

  /// Begins the next attempt. The dial fails if no address is left and no attempt is under way.
  private func tryNext() {
    while !isOver, let address = untried.popFirst() {
      if begin(address) {
        if !untried.isEmpty { loop.arm(attemptTimer, at: loop.now + Self.attemptDelay, for: self) }
        return
      }
    }
    guard !isOver, attempts.isEmpty else { return }
    fail(lastFailure ?? pool.withoutAddress)
  }

  /// If the process has no descriptor left, closes an idle connection and tries again. Otherwise connections to one
  /// server that nobody uses would keep requests to other servers from beginning.
  private func makeSocket(_ family: Int32) -> StreamSocket? {
    if let socket = StreamSocket(family: family) { return socket }
    guard errno == EMFILE || errno == ENFILE, pool.transport.pools.closeOldestIdle() else { return nil }
    return StreamSocket(family: family)
  }

  /// Begins a connection to the address. Returns false if the connection has failed at once, so that the next address
  /// can be tried.
  private func begin(_ address: SocketAddress) -> Bool {
    guard let socket = makeSocket(address.family) else {
      lastFailure = TransportFailure.socket(pool.origin, errno)
      return false
    }
    if let source = settings.sockets.source, let code = socket.bind(to: source) {
      socket.close()
      lastFailure = TransportFailure.source(pool.origin, source, code)
      return false
    }
    let attempt = ConnectAttempt(socket, address, self, at: loop.now)
    if case .failed(let code) = socket.connect(to: address) {
      socket.close()
      lastFailure = pool.connectFailure(address, code)
      return false
    }
    // If the socket is already connected, epoll reports it at once.
    attempts.append(attempt)
    guard pool.transport.register(attempt, socket.descriptor) else {
      attempts.removeLast()
      lastFailure = TransportFailure.socket(pool.origin, errno)
      socket.close()
      return false
    }
    return true
  }
}

extension Dial: LoopTimerTarget {
  func timerDidFire(_ timer: LoopTimer) {
    if timer === attemptTimer { return tryNext() }
    if let refusal = tunnel?.refusalAtEnd { return fail(because: refusal) }
    fail(TransportFailure.connectTimeout(pool.origin, settings, missingStep))
  }

  private var missingStep: String {
    if isLookingUp { return "the name was not resolved" }
    guard let proxy = pool.way?.proxy.name else {
      return handshake == nil ? "no connection" : "the TLS handshake did not end"
    }
    if tunnel != nil { return "the proxy \(proxy) did not connect to the server" }
    guard let handshake else { return "no connection to the proxy \(proxy)" }
    return handshake.channel.isForServer
      ? "the TLS handshake through the proxy \(proxy) did not end"
      : "the TLS handshake with the proxy \(proxy) did not end"
  }
}
