import CCurl
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTransport

/// One hop. It gets libcurl's callbacks and passes them on to the observer.
final class CurlTransfer: Transfer {
  enum Phase {
    /// Libcurl does not have the transfer yet, because the name is being looked up, the transfer waits for a
    /// connection, or libcurl is on the stack.
    case waiting
    case running
    /// The whole response has arrived, but the transfer cannot end yet: its observer does not want the body yet or has
    /// paused, or a part of the body is not on disk yet.
    case held(TransferTimings)
    case ended
  }

  let transport: CurlTransport
  /// The request. When the request is issued, its headers are moved out of it.
  @exclusivity(unchecked) var request: Request
  let options: TransferOptions

  // In the classes of a transfer, the run-time checks for overlapping accesses are switched off, because they took a
  // fifth of this layer's time. This is safe: the classes are confined to the loop, and no access lasts while an
  // observer or libcurl is called.
  @exclusivity(unchecked) var observer: (any TransferObserver)?
  @exclusivity(unchecked) var phase = Phase.waiting
  @exclusivity(unchecked) var handle: CurlHandle?
  /// The index of the transfer in the transport's list.
  var position = 0
  /// An error that the transfer itself has found. It takes precedence over the error that libcurl reports.
  @exclusivity(unchecked) var failure: TransportError?
  var isCancelled = false
  @exclusivity(unchecked) var upload: Upload?
  var queueTime = Duration.zero
  var nameTime = Duration.zero

  var hasIssued = false
  /// The local port, which identifies the connection; nil if there is no connection yet.
  var localPort: Int32?
  /// The socket of the connection, if it is known.
  var descriptor: Int32?
  /// The facts about the connection at the time when the hop was issued; nil if the options do not ask for them.
  var issuedConnection: ConnectionFacts?
  /// Whether the kept connection that libcurl chose cannot be used.
  var isSoiled = false
  var wantsFreshConnection: Bool
  /// The state of the HTTP/2 stream.
  var stream = StreamState()
  @exclusivity(unchecked) var reader: ResponseReader
  /// The receiver of the body; nil until the head has arrived.
  @exclusivity(unchecked) var receiver: BodyReceiver?
  /// Whether libcurl holds a piece of the body back until the transfer tells it to continue.
  var isPaused = false
  /// Whether libcurl waits for more of the request body.
  var isStarved = false
  /// Whether the stream of the request body has more bytes since libcurl began to wait.
  var isSendingAgain = false
  /// Whether the response is complete, even if libcurl still waits for something.
  var isWhole = false
  /// Whether the transfer is in the transport's list of transfers with postponed work.
  var isDeferred = false
  var timer: LoopTimer?
  var startedAt: Instant?
  /// When the transfer began to wait for a name look-up; nil if it does not wait.
  var lookUpBegan: Instant?
  /// The time when the request was issued, and the time when libcurl got the last piece of the body. They are set only
  /// for a body from a file or a stream.
  var issuedAt: Instant?
  var sentAt: Instant?

  // The initializer is inlined, so that the arguments are moved and not copied.
  @inline(__always)
  init(
    _ transport: CurlTransport, _ request: consuming Request, _ options: TransferOptions,
    _ observer: any TransferObserver
  ) {
    self.transport = transport
    self.request = consume request
    self.options = options
    self.observer = observer
    wantsFreshConnection = options.wantsFreshConnection
    reader = ResponseReader(transport.limits)
  }

  /// Libcurl can send trailers only with chunked framing in HTTP/1.1, and the version of the connection is not known
  /// early enough.
  var sendsTrailers: Bool { false }

  var isOver: Bool {
    if case .ended = phase { return true }
    return isCancelled || failure != nil
  }

  var engine: TransportEngine? { .curl }

  func cancel() {
    if case .ended = phase { return }
    isCancelled = true
    receiver?.stop()
    transport.postpone(self)
  }

  func proceed(_ disposition: BodyDisposition) {
    guard let receiver, receiver.disposition == .hold, disposition != .hold else { return }
    receiver.begin(disposition)
    transport.postpone(self)
  }

  func resumeReceiving() {
    guard let receiver, receiver.isHeldBack else { return }
    receiver.resume()
    transport.postpone(self)
  }

  func resumeSending() {
    guard isStarved else { return }
    isSendingAgain = true
    transport.postpone(self)
  }

  /// Does the postponed work. The observer has requested it, or it became necessary while libcurl was on the stack.
  /// [loop, outside libcurl]
  func runPostponed() {
    isDeferred = false
    switch phase {
    case .ended: return
    case .waiting where isCancelled || failure != nil: end(failure ?? .cancelled(request), timings ?? TransferTimings())
    case .waiting: return
    case .held(let timings):
      conclude(isCancelled ? failure ?? .cancelled(request) : failure, timings)
    case .running:
      deliverRest()
      if isCancelled || failure != nil { return finish(CURLE_ABORTED_BY_CALLBACK) }
      if isWhole, !isPaused { return finish(CURLE_OK) }
      unpause()
    }
  }

  private var isHeldBack: Bool { receiver?.isHeldBack != false }

  /// Passes on the bytes that were held back while the observer did not want them.
  private func deliverRest() {
    guard let observer, let receiver else { return }
    receiver.deliverRest(observer)
    if failure == nil { failure = receiver.failure }
  }

  var timings: TransferTimings? {
    if case .held(let timings) = phase { return timings }
    if let handle { return measured(handle) }
    guard startedAt != nil || lookUpBegan != nil || nameTime > .zero else { return nil }
    let now = transport.loop.now
    var timings = TransferTimings()
    timings.queue = startedAt.map { now.duration(since: $0) } ?? .zero
    timings.nameLookup = lookUpBegan.map { now.duration(since: $0) } ?? nameTime
    return timings
  }

  var connection: ConnectionFacts? {
    guard var connection = issuedConnection else { return nil }
    connection.version = reader.version
    return connection
  }

  private func measured(_ handle: CurlHandle) -> TransferTimings {
    var timings = handle.timings(hasIssued: hasIssued)
    timings.queue = queueTime
    timings.nameLookup += nameTime
    // If no byte of a response has arrived, there is no time for waiting or receiving. Libcurl can report such times
    // even then: if it has sent the request twice, it reports the times of both requests together.
    if reader.version == nil { (timings.wait, timings.receive) = (.zero, .zero) }
    timings.version = reader.version
    timings.engine = .curl
    if let issuedAt, let sentAt {
      timings.send = sentAt.duration(since: issuedAt)
      // If a server answers before it has the whole request, the send phase ends with the first byte of the answer.
      if timings.wait > .zero || timings.receive > .zero { timings.send = min(timings.send, timings.wait) }
      timings.wait = max(.zero, timings.wait - timings.send)
    }
    return timings
  }

  /// Ends the transfer, because libcurl has finished or the transfer has decided to end. [loop, outside libcurl]
  func finish(_ code: CURLcode) {
    guard let handle = handle.take() else { return }
    if isSoiled, failure == nil, !isCancelled, let route = handle.route { return useAnotherConnection(handle, route) }
    let timings = measured(handle)
    let error = error(for: code, handle)
    noteSizes(handle)
    transport.release(handle, localPort, isSpent: error != nil)
    conclude(error, timings)
  }

  /// Begins the transfer again on a new connection. This is safe because no byte of the request was sent.
  private func useAnotherConnection(_ handle: consuming CurlHandle, _ route: Route) {
    isSoiled = false
    wantsFreshConnection = true
    transport.release(handle, nil, isSpent: false)
    transport.restart(self, route)
  }

  /// Called when libcurl has finished. The transfer ends when its observer accepts the end.
  private func conclude(_ error: TransportError?, _ timings: consuming TransferTimings) {
    guard error == nil, reader.isHeadDone else { return end(error, timings) }
    deliverRest()
    if isCancelled || failure != nil { return end(failure ?? .cancelled(request), timings) }
    if isHeldBack {
      phase = .held(timings)
      return
    }
    do throws(TransportError) {
      guard let receiver else { return end(nil, timings) }
      if let body = try receiver.finish() { return end(nil, timings, body) }
      phase = .held(timings)
    } catch { end(error, timings) }
  }

  /// Ends the transfer, and tells the observer. Further calls do nothing.
  func end(_ error: TransportError?, _ timings: consuming TransferTimings, _ body: consuming Body = .empty) {
    if case .ended = phase { return }
    phase = .ended
    if let timer { transport.loop.disarm(timer) }
    transport.forget(self)
    receiver = nil
    let observer = self.observer.take()
    upload = nil
    observer?.transferDidEnd(
      TransferEnd(
        error: error, body: consume body, trailers: reader.trailers, timings: consume timings, connection: connection))
  }

  private func unpause() {
    let wantsMore = isPaused && !isHeldBack
    let sends = isStarved && isSendingAgain
    guard wantsMore || sends, let handle else { return }
    isPaused = false
    // After unpausing, libcurl also asks for the request body again. If there is still no data, the callback sets the
    // flag again.
    isStarved = false
    isSendingAgain = false
    // In this call, libcurl delivers the piece that it held back. If the call fails, the transfer must be ended here.
    let code = handle.multi.unpause(handle.easy)
    if code != CURLE_OK, case .running = phase { finish(code) }
  }

  private func error(for code: CURLcode, _ handle: CurlHandle) -> TransportError? {
    if isCancelled { return .cancelled(request) }
    if stream.isRefused, reader.status == 0 { return .notProcessed(request) }
    if let failure = failure ?? receiver?.failure ?? upload?.failure { return failure }
    if receiver?.isCut == true || isWhole { return nil }
    if stream.isCutShort, reader.isHeadDone { return .cutShort(request) }
    // If libcurl 7.88 closes the connection because of an error, and the body has no length, it takes the close for the
    // end of the body and reports success.
    let isBrokenOff = stream.isOpen && reader.body == .stream
    if code == CURLE_OK, reader.isHeadDone, !isBrokenOff { return nil }
    return CurlFailure(
      code: code, url: request.url, detail: handle.errorMessage, socketError: handle.socketError,
      hasIssued: hasIssued, hasStatus: reader.status != 0, hasHead: reader.isHeadDone, isHTTP2: stream.hasBegun,
      settings: transport.settings, proxy: transport.proxy.name(for: request.url.origin.scheme),
      proxyStatus: sluice_easy_get_long(handle.easy, CURLINFO_HTTP_CONNECTCODE)
    ).error
  }

  private func noteSizes(_ handle: CurlHandle) {
    handle.expectedFields = max(4, reader.fieldCount)
    handle.expectedBytes = max(64, reader.byteCount)
    if !hasIssued, failure == nil, !isCancelled { handle.route?.distrust() }
  }
}
