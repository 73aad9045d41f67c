import CLinux
import Glibc
import SluiceContentCoding
import SluiceHTTP1
package import SluiceLoop
package import SluiceMessages
package import SluicePipeline
import SluiceSupport
import SluiceTransport

/// HTTP/1.1 and HTTP/2 on connections of our own, on one loop.
///
/// Over TLS the server chooses the version, unless the settings allow only HTTP/1.1.
///
/// Any thread may create it before its first use; everything else happens on its loop. It lives as long as its loop.
/// The loop's shutdown cancels the transfers in flight.
///
/// The transport adds to a request: `Host`, `Content-Length` or chunked framing, `Accept: */*`, `Accept-Encoding`,
/// `User-Agent`, and over HTTP/1.1 `Expect: 100-continue` with a body of more than 1 MiB: each unless the request has
/// its own; the last four unless the request omits them. It leaves out: hop-by-hop fields (RFC 9110 §7.6.1) and the
/// caller's `Content-Length`, since the transport frames the message; `Expect` without a body; the body of a HEAD.
///
/// A descriptor is added to the epoll set once, edge-triggered, and stays there until the connection is closed. So each
/// reader reads until the socket has no more, or comes back later (``readLater(_:)``).
package final class WireTransport: Transport, @unchecked Sendable {
  // Sendable: other threads only pass the reference on; only the loop's thread touches the object.
  package let loop: Loop
  package let settings: TransportSettings
  let resolver: NameResolver
  let defaults: RequestHead.Defaults
  let limits: MessageLimits
  // Settings that each request needs: copying all settings would cost as much as the other checks of a request.
  let maximumHeldBytes: Int
  let decodesContent: Bool
  /// Received bytes go here first, for all connections: a waiting connection needs no buffer.
  let input: UnsafeMutableRawBufferPointer
  /// The head that is written next.
  @exclusivity(unchecked) var output: [UInt8] = []

  /// The servers that delegates have accepted, on all loops.
  let approvals: TrustApprovals

  private var sourceIndex = 0
  private var contexts: [TLSSettings: TLSContext] = [:]
  /// Indexed by descriptor.
  @exclusivity(unchecked) private var endpoints: [WireEndpoint?] = []
  @exclusivity(unchecked) private(set) var pools: [PoolKey: OriginPool] = [:]
  /// The pool of the last request, since the next request often has the same origin, or even this URL.
  @exclusivity(unchecked) private var lastURL: HTTPURL?
  @exclusivity(unchecked) private var lastPool: OriginPool?
  /// Retained once while they are in the list, and not again when they move within it.
  @exclusivity(unchecked) private var transfers: [Unmanaged<WireTransfer>] = []
  /// Transfers that have ended in this turn, and some that have ended earlier and can take the next hops.
  @exclusivity(unchecked) private var ended: [WireTransfer] = []
  @exclusivity(unchecked) private var spare: [WireTransfer] = []
  /// Transfers with work that must not happen inside the call that asked for it.
  @exclusivity(unchecked) private var postponed: [WireTransfer] = []
  /// The transfers whose work is being done now.
  @exclusivity(unchecked) private var running: [WireTransfer] = []
  /// Connections from which more may be read at once.
  @exclusivity(unchecked) private var unread: [HTTPConnection] = []
  /// Connections of HTTP/2 that may have something to send.
  @exclusivity(unchecked) private var unflushed: [HTTP2Connection] = []
  /// The receivers of ended transfers, for reuse.
  @exclusivity(unchecked) private var receivers: [BodyReceiver] = []
  private(set) lazy var http2Fields = HTTP2RequestFields()
  /// Whether a server may choose HTTP/2 over TLS.
  let offersHTTP2: Bool
  private let idleTimer = LoopTimer()
  @exclusivity(unchecked) var idleCount = 0
  private(set) var isClosed = false
  private var poolNumber: UInt64 = 0
  /// Counts the ends of turns, and of rounds of work within a turn.
  private(set) var round: UInt64 = 0

  /// The size of the buffer for received bytes.
  static let inputBytes = 65_536
  /// An idle connection is closed after this time. Many servers close theirs after 60 or 75 seconds.
  static let idleLimit = Duration.seconds(90)
  /// Lists up to this size keep their memory.
  private static let keptCapacity = 1024
  /// Receivers that are kept for the transfers to come.
  private static let keptReceivers = 64
  /// Transfers that are kept for the hops to come.
  private static let keptTransfers = 64
  /// Beyond this number of origins, pools without a connection are forgotten.
  private static let rememberedPools = 4096
  /// Beyond this number of client certificates, their files are read again.
  private static let rememberedContexts = 64
  /// The number of idle connections that are kept in any case; with more transfers in flight, as many as those.
  private static let idleConnections = 256

  /// - Throws: if a TLS file cannot be read, or if the settings ask for something that this transport does not have.
  package init(
    loop: Loop, settings: TransportSettings = TransportSettings(), resolver: NameResolver = .shared,
    approvals: TrustApprovals = TrustApprovals()
  ) throws(TransportError) {
    try settings.check()
    self.approvals = approvals
    self.loop = loop
    self.settings = settings
    self.resolver = resolver
    limits = MessageLimits(settings.responseLimits)
    maximumHeldBytes = settings.maximumHeldRequestBytes
    decodesContent = settings.decodesContent
    offersHTTP2 = settings.httpVersion == .http2 || settings.httpVersion == .http3
    defaults = RequestHead.Defaults(
      codings: settings.decodesContent ? ContentCoding.acceptEncoding : nil,
      agent: settings.userAgent.flatMap { $0.isEmpty ? nil : $0 })
    input = .allocate(byteCount: Self.inputBytes, alignment: 16)
    loop.post { [self] in sourceIndex = loop.add(self) }
  }

  deinit { input.deallocate() }

  /// Transfers that have not ended.
  package var transferCount: Int { transfers.count }

  package func start(
    _ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver
  ) -> any Transfer {
    let transfer = takeTransfer(consume request, options, observer)
    transfer.position = transfers.count
    transfers.append(.passRetained(transfer))
    if isClosed {
      // The loop still runs what was posted, but has no further turns.
      transfer.isCancelled = true
      let ended = EndedTransfer(transfer)
      loop.post { ended.transfer.runPostponed() }
    } else {
      postpone(transfer)
    }
    return transfer
  }

  @inline(__always)
  private func takeTransfer(
    _ request: consuming Request, _ options: TransferOptions, _ observer: any TransferObserver
  ) -> WireTransfer {
    guard var transfer = spare.popLast(), isKnownUniquelyReferenced(&transfer) else {
      return WireTransfer(self, request, options, observer)
    }
    transfer.begin(request, options, observer)
    return transfer
  }

  /// Keeps the transfers that have ended in this turn, up to a limit. In the same turn, callers are still using them.
  private func keepEnded() {
    while spare.count < Self.keptTransfers, let transfer = ended.popLast() { spare.append(transfer) }
    ended.removeAll(keepingCapacity: ended.capacity <= Self.keptCapacity)
  }

  /// Begins a hop that ends with an error.
  package func fail(
    _ request: consuming Request, _ options: TransferOptions, _ error: TransportError, observer: any TransferObserver
  ) -> any Transfer {
    let transfer = start(request, options, observer: observer)
    transfers.last?._withUnsafeGuaranteedRef { $0.refuse(error) }
    return transfer
  }

  /// Notes that a transfer has work to do at the end of the turn.
  @inline(__always)
  func postpone(_ transfer: WireTransfer) {
    guard !transfer.isPostponed else { return }
    transfer.isPostponed = true
    postponed.append(transfer)
  }

  /// Notes that a connection may have more to read, or to send, although its descriptor will not become ready again.
  func readLater(_ connection: HTTPConnection) {
    guard !connection.isUnread else { return }
    connection.isUnread = true
    unread.append(connection)
  }

  /// Notes that a connection has something to send at the end of the turn, with whatever else it then has.
  func flushLater(_ connection: HTTP2Connection) {
    guard !connection.isUnflushed else { return }
    connection.isUnflushed = true
    unflushed.append(connection)
  }

  func forget(_ transfer: WireTransfer) {
    guard transfers.indices.contains(transfer.position) else { return }
    let forgotten = transfers[transfer.position]
    let last = transfers.removeLast()
    if transfer.position < transfers.count {
      transfers[transfer.position] = last
      last._withUnsafeGuaranteedRef { $0.position = transfer.position }
    }
    if isClosed { forgotten.release() } else { ended.append(forgotten.takeRetainedValue()) }
  }

  /// Takes a receiver for the body of a transfer.
  func takeReceiver() -> BodyReceiver { receivers.popLast() ?? BodyReceiver() }

  /// Takes back the receiver of an ended transfer.
  func giveBack(_ receiver: BodyReceiver) {
    if receiver.clear(), receivers.count < Self.keptReceivers { receivers.append(receiver) }
  }

  /// The pool of an origin, for transfers that have no further conditions for their connection.
  func pool(for url: HTTPURL) -> OriginPool {
    if let lastPool, url == lastURL || url.isAt(lastPool.origin) { return lastPool }
    let pool = pool(PoolKey(url.origin))
    lastURL = url
    lastPool = pool
    return pool
  }

  func pool(_ key: PoolKey) -> OriginPool { pools[key] ?? makePool(key) }

  func nextPoolNumber() -> UInt64 {
    poolNumber += 1
    return poolNumber
  }

  /// A pool for one transfer is no longer used.
  func forget(_ pool: OriginPool) { pools[pool.key] = nil }

  private func makePool(_ key: PoolKey) -> OriginPool {
    if pools.count >= Self.rememberedPools {
      for (key, pool) in pools where pool.isUnused { pools[key] = nil }
      lastPool = nil
      lastURL = nil
    }
    let pool = OriginPool(key, self)
    pools[key] = pool
    return pool
  }

  /// Why a request body of known size is not sent; nil if it is small enough.
  func excess(of request: borrowing Request) -> TransportError? { settings.excess(of: request) }

  /// Looks up the name to which the connections of a pool lead.
  func lookUp(_ name: String, for key: PoolKey) {
    resolver.addresses(of: name) { [self] answer in
      loop.post { [self] in pools[key]?.didResolve(answer) }
    }
  }

  /// The context is created for the first connection that needs it.
  func tlsContext(_ settings: TLSSettings) throws(TLSFailure) -> TLSContext {
    if let context = contexts[settings] { return context }
    let context = try TLSContext(settings, offersHTTP2: offersHTTP2)
    // Existing connections keep their contexts.
    if contexts.count >= Self.rememberedContexts { contexts = [:] }
    contexts[settings] = context
    return context
  }

  // MARK: Descriptors

  /// Adds a descriptor to the epoll set; false if the system refuses.
  func register(_ endpoint: WireEndpoint, _ descriptor: Int32) -> Bool {
    place(endpoint, descriptor)
    let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
    if loop.poller.control(EPOLL_CTL_ADD, descriptor, interest, tag: loop.tag(sourceIndex, descriptor)) { return true }
    remove(descriptor)
    return false
  }

  /// Lets another endpoint have the descriptor.
  func place(_ endpoint: WireEndpoint, _ descriptor: Int32) {
    let index = Int(descriptor)
    if index >= endpoints.count {
      endpoints.append(contentsOf: repeatElement(nil, count: index + 64 - endpoints.count))
    }
    endpoints[index] = endpoint
  }

  /// Called before the descriptor is closed, which takes it out of the epoll set.
  func remove(_ descriptor: Int32) { endpoints[Int(descriptor)] = nil }

  // MARK: Idle connections

  /// Whether one more idle connection is kept.
  var keepsMoreIdle: Bool { !isClosed && idleCount < max(Self.idleConnections, transfers.count) }

  /// A connection has become idle.
  func watchIdle() {
    if !idleTimer.isArmed { loop.arm(idleTimer, at: loop.turnBegan + Self.idleLimit, for: self) }
  }
}

/// A transfer that is posted to its own loop. Unchecked for that reason.
private struct EndedTransfer: @unchecked Sendable {
  let transfer: WireTransfer

  init(_ transfer: WireTransfer) { self.transfer = transfer }
}

extension MessageLimits {
  fileprivate init(_ limits: ResponseLimits) {
    self.init()
    headBytes = limits.maximumHeadBytes
    fields = limits.maximumHeadFields
    informationalResponses = limits.maximumInformationalResponses
    chunkExtensionBytes = limits.maximumChunkExtensionBytes
  }
}

extension WireTransport: LoopTimerTarget {
  package func timerDidFire(_ timer: LoopTimer) {
    var oldest: Instant?
    for pool in pools.values {
      guard let since = pool.closeIdle(at: loop.turnBegan) else { continue }
      oldest = min(oldest ?? since, since)
    }
    if let oldest { loop.arm(idleTimer, at: oldest + Self.idleLimit, for: self) }
  }
}

extension WireTransport: LoopSource {
  /// The number of rounds in one turn before the loop checks descriptors again.
  private static let roundsPerTurn = 4

  package func descriptorIsReady(_ descriptor: Int32, _ events: UInt32) {
    let index = Int(descriptor)
    guard index < endpoints.count, let endpoint = endpoints[index] else { return }
    endpoint.isReady(events)
  }

  package var hasWork: Bool { !postponed.isEmpty || !unread.isEmpty || !unflushed.isEmpty }

  package func finishTurn() {
    // Connections with more to read continue once per turn, so that a fast peer does not keep the loop from the others.
    if !unread.isEmpty {
      let connections = unread
      unread = []
      for connection in connections {
        connection.isUnread = false
        connection.readOn()
      }
    }
    var rounds = 0
    while !postponed.isEmpty, rounds < Self.roundsPerTurn {
      // Two lists in turn, so that neither is allocated again.
      swap(&postponed, &running)
      for transfer in running { transfer.runPostponed() }
      running.removeAll(keepingCapacity: running.capacity <= Self.keptCapacity)
      rounds += 1
    }
    if !unflushed.isEmpty { flush() }
    if !ended.isEmpty { keepEnded() }
    round &+= 1
  }

  private func flush() {
    let connections = unflushed
    unflushed = []
    for connection in connections {
      connection.isUnflushed = false
      connection.flush()
    }
  }

  package func loopWillEnd() {
    isClosed = true
    loop.disarm(idleTimer)
    while let transfer = transfers.last?.takeUnretainedValue() {
      transfer.isCancelled = true
      transfer.runPostponed()
    }
    postponed = []
    unread = []
    unflushed = []
    ended = []
    spare = []
    lastPool = nil
    // The connections close with the loop, even if a transaction is still referenced.
    for pool in pools.values { pool.close() }
    pools = [:]
    endpoints = []
  }
}

extension WireTransport {
  package func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    settings.makeBodyGatherer(on: loop, options)
  }

  package func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer {
    settings.makeRequestGatherer(on: loop, options)
  }

  package func stream(of file: FileBody) throws(TransportError) -> BodyStream { try file.stream() }
}
