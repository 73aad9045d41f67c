import CCurl
import SluiceHTTP1
package import SluiceLoop
package import SluiceMessages
package import SluicePipeline
import SluiceTransport

/// HTTP over libcurl on one loop: HTTP/1.1 in clear text, HTTP/1.1 and HTTP/2 over TLS.
///
/// It can be created on any thread, but must be used only on its loop. It exists as long as its loop. The shutdown of
/// the loop cancels the transfers in flight.
///
/// The transport adds `Host`, `Content-Length` or chunked framing, `Accept: */*`, `Accept-Encoding` and `User-Agent` to
/// a request, unless the request has the field itself. A request can omit the last three. The transport sends neither
/// hop-by-hop fields (RFC 9110 §7.6.1) nor the caller's `Content-Length`, because it frames the message itself. It does
/// not add `Expect`, and sends no body with HEAD.
package final class CurlTransport: Transport, @unchecked Sendable {
  // Sendable is safe, because other threads only pass the reference on. Only the loop's thread uses the object.
  package let loop: Loop
  package let settings: TransportSettings
  let multi: CurlMulti
  let proxy: ProxyChoice
  let limits: MessageLimits
  private let resolver: NameResolver

  @exclusivity(unchecked) private var pool: [CurlHandle] = []
  /// Each transfer is retained once while it is in the list. `Unmanaged` avoids further retains when it moves within
  /// the list.
  @exclusivity(unchecked) private var transfers: [Unmanaged<CurlTransfer>] = []
  private var routes: [Route.Key: Route] = [:]
  /// Transfers with postponed work, which must wait until libcurl is not on the stack.
  @exclusivity(unchecked) private var postponed: [CurlTransfer] = []
  /// Transfers that could not start because libcurl was on the stack.
  @exclusivity(unchecked) private var unstarted: [(CurlTransfer, Route)] = []
  /// Routes whose gates have changed, so that waiting transfers might begin.
  @exclusivity(unchecked) private var changed: [Route] = []
  private var isClosed = false

  /// The number of handles that are kept for later requests; a handle takes about 20 KB.
  private static let pooledHandles = 256
  /// Beyond this number of routes, idle routes are forgotten.
  static let rememberedRoutes = 4096
  /// Beyond this number of transfers, new handles have small buffers.
  private static let crowd = 1000

  /// - Throws: if libcurl lacks a feature, or if a TLS file cannot be read.
  package init(
    loop: Loop, settings: TransportSettings = TransportSettings(), resolver: NameResolver = .shared
  ) throws(TransportError) {
    try CurlLibrary.start()
    StreamEvents.watch()
    try settings.check()
    self.loop = loop
    self.settings = settings
    self.resolver = resolver
    limits = MessageLimits(settings.responseLimits)
    proxy = ProxyChoice(settings)
    multi = try CurlMulti(loop: loop)
    if let limit = settings.maximumConnectionsPerHost {
      multi.limitConnectionsPerHost(to: max(1, limit / max(1, settings.loops)))
    }
    loop.post { [self] in multi.attach(loop.add(self)) }
  }

  /// Transfers that have not ended.
  package var transferCount: Int { transfers.count }

  package func start(
    _ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver
  ) -> any Transfer {
    let transfer = CurlTransfer(self, consume request, options, observer)
    transfer.position = transfers.count
    transfers.append(.passRetained(transfer))
    if isClosed {
      transfer.cancel()
      return transfer
    }
    if let refusal = settings.excess(of: transfer.request) ?? trailerRefusal(transfer.request) {
      transfer.failure = refusal
      postpone(transfer)
      return transfer
    }
    let route = route(to: transfer.request.url)
    let now = loop.turnBegan
    if route.isUsable(at: now) {
      proceed(transfer, route)
      if route.wantsRefresh(at: now) { lookUp(route) }
    } else {
      wait(transfer, for: route)
    }
    return transfer
  }

  /// Refuses a request with trailers, because libcurl cannot send them.
  private func trailerRefusal(_ request: borrowing Request) -> TransportError? {
    guard request.hasTrailers else { return nil }
    let names = settings.names
    let (reason, advice) =
      if proxy.isPossible(for: request.url.origin) {
        ("libcurl, which is used for proxies, cannot send them", "use no proxy (\(names.proxy) \"\")")
      } else if settings.httpVersion == .http10 {
        ("HTTP/1.0 has none", "select HTTP/1.1 (\(names.http11))")
      } else {
        ("libcurl cannot send them", "set \(names.engine) to \"auto\" or \"wire\"")
      }
    return TransportError(
      .transport, "the request has trailers, and \(reason); \(advice), or send the fields as headers",
      to: request.url, isBeforeSending: true)
  }

  package func usesProxy(for origin: Origin) -> Bool { proxy.isCertain(for: origin.scheme) }

  /// Notes that a transfer has work to do as soon as libcurl is not on the stack.
  func postpone(_ transfer: CurlTransfer) {
    guard !transfer.isDeferred else { return }
    transfer.isDeferred = true
    postponed.append(transfer)
  }

  /// Takes a handle back from libcurl.
  ///
  /// - Parameter isSpent: whether the handle must not be used again. In each handle, libcurl counts the dead kept
  ///   connections over all requests, and fails at the sixth.
  func release(_ handle: consuming CurlHandle, _ port: Int32?, isSpent: Bool) {
    multi.remove(handle.easy)
    if handle.route?.gate != nil, let route = handle.route {
      route.gate?.didEnd(onPort: port)
      changed.append(route)
    }
    handle.clear()
    let isWanted = pool.count < Self.pooledHandles && (!handle.isSmall || transfers.count > Self.crowd / 2)
    if isWanted, !isClosed, !isSpent { pool.append(handle) }
  }

  /// Begins a transfer again. No byte of it may have been sent. [loop, outside libcurl]
  func restart(_ transfer: CurlTransfer, _ route: Route) {
    transfer.phase = .waiting
    proceed(transfer, route)
  }

  /// Called when a transfer has got its connection. [inside libcurl]
  func didConnect(_ route: Route, _ port: Int32) {
    route.didTell(at: loop.turnBegan)
    guard route.gate != nil else { return }
    route.gate?.didIssue(onPort: port)
    changed.append(route)
  }

  func forget(_ transfer: CurlTransfer) {
    guard transfers.indices.contains(transfer.position) else { return }
    let forgotten = transfers[transfer.position]
    let last = transfers.removeLast()
    if transfer.position < transfers.count {
      transfers[transfer.position] = last
      last._withUnsafeGuaranteedRef { $0.position = transfer.position }
    }
    forgotten.release()
  }

  /// Called when the address is known. Gives the transfer to libcurl, or lets it wait for a connection.
  private func proceed(_ transfer: CurlTransfer, _ route: Route) {
    guard !multi.isBusy else { return unstarted.append((transfer, route)) }
    if transfer.isOver { return }
    if route.gate?.admit() == false {
      if transfer.startedAt == nil { transfer.startedAt = loop.now }
      route.gate?.wait(transfer)
    } else {
      begin(transfer, route)
    }
  }

  private func begin(_ transfer: CurlTransfer, _ route: Route) {
    if let startedAt = transfer.startedAt { transfer.queueTime = loop.now.duration(since: startedAt) }
    do throws(TransportError) {
      if transfer.request.hasUpload, transfer.upload == nil { transfer.upload = try Upload(transfer.request) }
      let handle = try takeHandle()
      handle.aim(at: &transfer.request, upload: transfer.upload)
      handle.route = route
      if transfer.wantsFreshConnection { handle.useFreshConnection() }
      if let instruction = route.instruction(at: loop.turnBegan) { handle.tell(instruction) }
      handle.borrowedTransfer = .passUnretained(transfer)
      transfer.handle = handle
      transfer.phase = .running
      multi.makeRoom(forTransfers: transfers.count)
      guard multi.add(handle.easy) == CURLM_OK else {
        throw TransportError(.resources, "libcurl refused a further transfer", isBeforeSending: true)
      }
    } catch {
      transfer.failure = error
      if transfer.handle == nil { route.gate?.didEnd(onPort: nil) }
      postpone(transfer)
    }
  }

  private func takeHandle() throws(TransportError) -> CurlHandle {
    if let handle = pool.popLast() { return handle }
    return try CurlHandle(multi, settings, proxy, isSmall: transfers.count > Self.crowd)
  }

  private func route(to url: HTTPURL) -> Route {
    if let handle = pool.last, handle.url == url, let route = handle.route, !route.isForgotten { return route }
    let target = proxy.target(of: url.origin)
    if let route = routes[target.key] { return route }
    if routes.count >= Self.rememberedRoutes { forgetIdleRoutes() }
    let route = Route(target.key, needsLookUp: target.needsLookUp && settings.unixSocket == nil)
    if settings.httpVersion == .http2, url.origin.scheme == .https { route.gate = StreamGate() }
    routes[target.key] = route
    return route
  }

  private func nameFailure(_ url: HTTPURL, _ host: String, _ error: NameError) -> TransportError {
    let isProxy = proxy.isCertain(for: url.origin.scheme)
    let (code, advice) =
      isProxy
      ? (ErrorCode.proxy, settings.names.proxyAdvice) : (ErrorCode.nameLookup, "")
    let reason = "cannot resolve \(isProxy ? "the proxy " : "")\(PlainText.quote(host)): \(error.advice)\(advice)"
    return TransportError(code, reason, to: url, isBeforeSending: true)
  }

  private func forgetIdleRoutes() {
    for (key, route) in routes where route.isIdle {
      route.isForgotten = true
      routes[key] = nil
    }
  }

  private func wait(_ transfer: CurlTransfer, for route: Route) {
    transfer.lookUpBegan = loop.now
    transfer.wake(after: settings.connectTimeout)
    route.waiting.append(transfer)
    if !route.isLookingUp { lookUp(route) }
  }

  private func lookUp(_ route: Route) {
    route.isLookingUp = true
    let key = route.key
    resolver.addresses(of: key.host) { [self] answer in
      loop.post { [self] in didResolve(key, answer) }
    }
  }

  private func didResolve(_ key: Route.Key, _ answer: NameResolver.Answer) {
    guard let route = routes[key] else { return }
    route.isLookingUp = false
    switch answer {
    case .success(let addresses): route.didResolve(to: addresses, at: loop.now)
    case .failure: route.didNotResolve(at: loop.now)
    }
    let waiting = route.waiting
    route.waiting = []
    for transfer in waiting {
      guard case .waiting = transfer.phase, !transfer.isCancelled, transfer.failure == nil else { continue }
      if let timer = transfer.timer { loop.disarm(timer) }
      if let began = transfer.lookUpBegan { transfer.nameTime = loop.now.duration(since: began) }
      transfer.lookUpBegan = nil
      switch answer {
      case .success: proceed(transfer, route)
      case .failure(let error):
        transfer.failure = nameFailure(transfer.request.url, key.host, error)
        postpone(transfer)
      }
    }
  }
}

extension CurlTransport: LoopSource {
  /// The maximum number of rounds in one turn. After these rounds, the loop checks descriptors again.
  private static let roundsPerTurn = 4

  package func descriptorIsReady(_ descriptor: Int32, _ events: UInt32) { multi.descriptorIsReady(descriptor, events) }

  package var hasWork: Bool { multi.isDue || !postponed.isEmpty || !unstarted.isEmpty || !changed.isEmpty }

  package func finishTurn() {
    var rounds = 0
    repeat {
      startPostponed()
      openGates()
      if multi.isDue { multi.runDue() }
      takeFinished()
      runPostponed()
      rounds += 1
    } while hasWork && rounds < Self.roundsPerTurn
  }

  package func loopWillEnd() {
    isClosed = true
    while let transfer = transfers.last?.takeUnretainedValue() {
      transfer.isCancelled = true
      transfer.handle == nil ? transfer.end(.cancelled(transfer.request), TransferTimings()) : transfer.finish(CURLE_OK)
    }
    postponed = []
    unstarted = []
    changed = []
    pool = []
    routes = [:]
    // The connections close with the loop, even if a transaction is still referenced.
    multi.close()
  }

  private func takeFinished() {
    while let (easy, code) = multi.nextFinished() {
      guard let context = sluice_easy_get_private(easy) else { continue }
      Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef(\.transfer)?.finish(code)
    }
  }

  private func startPostponed() {
    guard !unstarted.isEmpty else { return }
    let transfers = unstarted
    unstarted = []
    for (transfer, route) in transfers { proceed(transfer, route) }
  }

  private func openGates() {
    guard !changed.isEmpty else { return }
    let routes = changed
    changed = []
    for route in routes {
      while let transfer = route.gate?.next() { begin(transfer, route) }
    }
  }

  private func runPostponed() {
    guard !postponed.isEmpty else { return }
    let transfers = postponed
    postponed = []
    for transfer in transfers { transfer.runPostponed() }
  }
}
