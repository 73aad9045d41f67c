import CLinux
import Glibc
import SluiceHTTP1
package import SluiceLoop
package import SluiceMessages
package import SluicePipeline
import SluiceSupport

/// A transport with its own connections, for HTTP/1.1 and HTTP/2, on one loop.
///
/// Over TLS the server chooses the version, unless the settings allow only HTTP/1.1.
///
/// Any thread may create a transport, but only its loop may use it. The transport lives as long as its loop. The loop's
/// shutdown cancels the transfers in flight.
///
/// The transport adds to a request: `Host`, `Content-Length` or chunked framing, `Accept: */*`, `Accept-Encoding` and
/// `User-Agent`. Over HTTP/1.1, it also adds `Expect: 100-continue`, if the body has more than 1 MiB. It adds a field
/// only if the request does not have it. A request can also omit the last four. It does not send hop-by-hop fields (RFC
/// 9110 §7.6.1). It also does not send the caller's `Content-Length`, because the transport frames the message itself.
/// If there is no body, it does not send an `Expect`. It never sends the body of a HEAD.
///
/// A descriptor is added to the epoll set once, edge-triggered, and stays there until the connection is closed. So each
/// reader must read until the socket has no more bytes, or call ``readLater(_:)``.
package final class HTTPTransport: Transport, @unchecked Sendable {
  // Sendable: other threads only pass the reference on. Only the loop's thread uses the object.
  package let loop: Loop
  package let settings: TransportSettings
  let resolver: NameResolver
  let defaults: RequestHead.Defaults
  let limits: MessageLimits
  // The settings that each request needs are copied here, because a copy of all settings costs as much as the other
  // checks of a request.
  let maximumHeldBytes: Int
  let decodesContent: Bool
  /// Whether a connection can carry a second request, which HTTP/1.0 does not allow.
  let keepsConnections: Bool
  /// Whether the settings can exclude a request: by HTTP/1.0, or by a proxy that cannot be used.
  let mayRefuse: Bool
  /// The buffer into which all connections read. A connection that waits needs no buffer of its own.
  let input: UnsafeMutableRawBufferPointer
  /// The buffer in which a request's head is written.
  @exclusivity(unchecked) var output: [UInt8] = []

  /// The servers that delegates have accepted. All loops share it.
  let approvals: TrustApprovals

  private var sourceIndex = 0
  /// Decide which proxy carries which requests.
  let proxies: ProxyRules
  /// What the proxies are told about the user.
  private var authorizations: [Proxy: ProxyAuthorization] = [:]
  private var contexts: [ContextKey: TLSContext] = [:]
  /// The endpoints by their descriptor.
  @exclusivity(unchecked) private var endpoints: [SocketEndpoint?] = []
  let pools: PoolTable
  /// The transfers that have not ended. Each is retained once while it is in the list; moving it within the list does
  /// not retain it again.
  @exclusivity(unchecked) private var transfers: [Unmanaged<HTTPTransfer>] = []
  /// Transfers that have ended in this turn.
  @exclusivity(unchecked) private var ended: [HTTPTransfer] = []
  /// Transfers that have ended in earlier turns, and can take the next hops.
  @exclusivity(unchecked) private var spare: [HTTPTransfer] = []
  /// The number of ended transfers that can take the next hops.
  var spareCount: Int { spare.count }
  /// Transfers with postponed work, which must not be done inside the call that has caused it.
  @exclusivity(unchecked) private var postponed: [HTTPTransfer] = []
  /// The transfers whose work is being done now.
  @exclusivity(unchecked) private var running: [HTTPTransfer] = []
  /// Connections that may have more to read although epoll does not report them again.
  @exclusivity(unchecked) private var unread: [HTTPConnection] = []
  /// HTTP/2 connections that may have bytes to send.
  @exclusivity(unchecked) private var unflushed: [HTTP2Connection] = []
  /// The receivers of ended transfers, for reuse.
  @exclusivity(unchecked) private var receivers: [BodyReceiver] = []
  private(set) lazy var http2Fields = HTTP2RequestFields()
  /// Whether a server may choose HTTP/2 over TLS.
  let offersHTTP2: Bool
  private(set) var isClosed = false

  /// The size of the buffer for received bytes.
  static let inputBytes = 65_536
  /// The maximum capacity that a list keeps after it was emptied.
  private static let keptCapacity = 1024
  /// The maximum number of receivers that are kept for later transfers.
  private static let keptReceivers = 64
  /// The maximum number of ended transfers that are kept for later hops.
  private static let keptTransfers = 64
  /// The maximum number of TLS contexts that are kept. When it is reached, all are dropped, and certificate files are
  /// read again.
  private static let rememberedContexts = 64

  /// - Throws: if a TLS file cannot be read, or if the settings ask for something that this transport does not have.
  package init(
    loop: Loop, settings: TransportSettings = TransportSettings(), resolver: NameResolver = .shared,
    approvals: TrustApprovals = TrustApprovals()
  ) throws(TransportError) {
    try settings.check()
    self.approvals = approvals
    self.loop = loop
    pools = PoolTable(loop)
    self.settings = settings
    self.resolver = resolver
    limits = MessageLimits(settings.responseLimits)
    maximumHeldBytes = settings.maximumHeldRequestBytes
    decodesContent = settings.decodesContent
    proxies = ProxyRules(settings)
    keepsConnections = settings.httpVersion != .http10
    mayRefuse = !keepsConnections || proxies.isPossible
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
  /// Connections that are open and carry no transfer.
  var idleCount: Int { pools.idleCount }
  /// Whether a connection that becomes idle now is kept open.
  var keepsMoreIdle: Bool { !isClosed && pools.keepsMoreIdle(beside: transfers.count) }

  package func start(
    _ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver
  ) -> any Transfer {
    let transfer = takeTransfer(consume request, options, observer)
    transfer.position = transfers.count
    transfers.append(.passRetained(transfer))
    if isClosed {
      // The loop has ended its turns, but still runs work that is posted to it.
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
  ) -> HTTPTransfer {
    guard var transfer = spare.popLast(), isKnownUniquelyReferenced(&transfer) else {
      return HTTPTransfer(self, request, options, observer)
    }
    transfer.begin(request, options, observer)
    return transfer
  }

  /// Keeps the transfers that have ended in this turn, up to a limit. A transfer is not used again before the turn is
  /// over, because the functions that have ended it still use it.
  private func keepEnded() {
    while spare.count < Self.keptTransfers, let transfer = ended.popLast() { spare.append(transfer) }
    ended.removeAll(keepingCapacity: ended.capacity <= Self.keptCapacity)
  }

  /// Notes that a transfer has work to do at the end of the turn.
  @inline(__always)
  func postpone(_ transfer: HTTPTransfer) {
    guard !transfer.isPostponed else { return }
    transfer.isPostponed = true
    postponed.append(transfer)
  }

  /// Notes that a connection may have more to read or to send, although epoll will not report its descriptor again.
  func readLater(_ connection: HTTPConnection) {
    guard !connection.isUnread else { return }
    connection.isUnread = true
    unread.append(connection)
  }

  /// Notes that a connection has bytes to send. They are sent at the end of the turn, together with the bytes that are
  /// added until then.
  func flushLater(_ connection: HTTP2Connection) {
    guard !connection.isUnflushed else { return }
    connection.isUnflushed = true
    unflushed.append(connection)
  }

  func forget(_ transfer: HTTPTransfer) {
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

  /// Why a request body of known size is not sent; nil if it is small enough.
  func excess(of request: borrowing Request) -> TransportError? { settings.excess(of: request) }

  /// Looks up a host name.
  ///
  /// - Parameter use: gets the answer, on the loop.
  func lookUp(_ name: String, then use: @escaping @Sendable (NameResolver.Answer) -> Void) {
    resolver.addresses(of: name) { [loop] answer in loop.post { use(answer) } }
  }

  /// What a proxy is told about the user; nil if its URL names none.
  func authorization(for proxy: Proxy) -> ProxyAuthorization? {
    if let known = authorizations[proxy] { return known }
    guard let credentials = proxy.credentials, proxy.isHTTP else { return nil }
    let authorization = ProxyAuthorization(credentials)
    authorizations[proxy] = authorization
    return authorization
  }

  private struct ContextKey: Hashable {
    let settings: TLSSettings
    let offersHTTP2: Bool
  }

  /// Returns the TLS context for these settings. It is created for the first connection that needs it.
  ///
  /// - Parameter mayOfferHTTP2: false for a server that has demanded HTTP/1.1.
  func tlsContext(_ settings: TLSSettings, mayOfferHTTP2: Bool) throws(TLSFailure) -> TLSContext {
    let key = ContextKey(settings: settings, offersHTTP2: offersHTTP2 && mayOfferHTTP2)
    if let context = contexts[key] { return context }
    let context = try TLSContext(settings, offersHTTP2: key.offersHTTP2)
    // Existing connections keep their contexts.
    if contexts.count >= Self.rememberedContexts { contexts = [:] }
    contexts[key] = context
    return context
  }

  // MARK: Descriptors

  /// Adds a descriptor to the epoll set. Returns false if the system refuses.
  func register(_ endpoint: SocketEndpoint, _ descriptor: Int32) -> Bool {
    place(endpoint, descriptor)
    let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
    if loop.poller.control(EPOLL_CTL_ADD, descriptor, interest, tag: loop.tag(sourceIndex, descriptor)) { return true }
    remove(descriptor)
    return false
  }

  /// Makes this endpoint get the events of the descriptor.
  func place(_ endpoint: SocketEndpoint, _ descriptor: Int32) {
    let index = Int(descriptor)
    if index >= endpoints.count {
      endpoints.append(contentsOf: repeatElement(nil, count: index + 64 - endpoints.count))
    }
    endpoints[index] = endpoint
  }

  /// Forgets the endpoint of a descriptor. Call it before the descriptor is closed; closing removes the descriptor from
  /// the epoll set.
  func remove(_ descriptor: Int32) { endpoints[Int(descriptor)] = nil }
}

/// A transfer that is posted to its own loop. Unchecked, because only that loop uses it.
private struct EndedTransfer: @unchecked Sendable {
  let transfer: HTTPTransfer

  init(_ transfer: HTTPTransfer) { self.transfer = transfer }
}

extension HTTPTransport: LoopSource {
  /// The number of rounds in one turn before the loop checks descriptors again.
  private static let roundsPerTurn = 4

  package func descriptorIsReady(_ descriptor: Int32, _ events: UInt32) {
    let index = Int(descriptor)
    guard index < endpoints.count, let endpoint = endpoints[index] else { return }
    // The event can be for a closed socket that had the same number: it was reported in the same turn, or something
    // else still refers to that socket, such as a child between `fork` and `exec`. It does no harm if a socket that is not
    // ready is read. But an end must be an end of this socket.
    let isEnd = events & StreamSocket.ends != 0
    endpoint.isReady(isEnd ? events & ~StreamSocket.ends | StreamSocket.ends(of: descriptor) : events)
  }

  package var hasWork: Bool { !postponed.isEmpty || !unread.isEmpty || !unflushed.isEmpty }

  package func finishTurn() {
    // A connection with more to read continues only once per turn, so that a fast peer does not delay the other
    // connections.
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
      // The two lists are swapped, so that their memory is reused.
      swap(&postponed, &running)
      for transfer in running { transfer.runPostponed() }
      running.removeAll(keepingCapacity: running.capacity <= Self.keptCapacity)
      rounds += 1
    }
    if !unflushed.isEmpty { flush() }
    if !ended.isEmpty { keepEnded() }
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
    while let transfer = transfers.last?.takeUnretainedValue() {
      transfer.isCancelled = true
      transfer.runPostponed()
    }
    postponed = []
    unread = []
    unflushed = []
    ended = []
    spare = []
    // The connections close with the loop, even if a transaction is still referenced.
    pools.close()
    endpoints = []
  }
}

extension HTTPTransport {
  package func usesProxy(for origin: Origin) -> Bool {
    proxies.proxy(for: origin)?.opensTunnel(to: origin, settings) == false
  }

  package func answerProxy(_ challenges: [Challenge], for origin: Origin, answered: Int) -> Bool {
    guard let proxy = proxies.proxy(for: origin), let authorization = authorization(for: proxy) else { return false }
    return authorization.take(challenges, answered: answered, &loop.random)
  }

  package func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    settings.makeBodyGatherer(on: loop, options)
  }

  package func makeRequestGatherer(_ options: TransferOptions) -> any BodyGatherer {
    settings.makeRequestGatherer(on: loop, options)
  }

  package func stream(of file: FileBody) throws(TransportError) -> BodyStream { try file.stream() }
}
