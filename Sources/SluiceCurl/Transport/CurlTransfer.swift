import CCurl
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTransport

/// One hop. It gets libcurl's callbacks and passes them on to the observer.
final class CurlTransfer: Transfer {
  enum Phase {
    /// Libcurl does not have the transfer yet: the name is being looked up, or libcurl is on the stack.
    case waiting
    case running
    /// The whole response has arrived. But its observer wants nothing yet or has paused on the last piece, or a part of
    /// the body is not on disk yet.
    case held(TransferTimings)
    case ended
  }

  let transport: CurlTransport
  /// The request; without its headers after they are issued.
  @exclusivity(unchecked) var request: Request
  let options: TransferOptions

  // Unchecked, here and in the other classes of a transfer: they are confined to the loop, and no access lasts while an
  // observer or libcurl is called, so accesses cannot overlap. The run-time checks were a fifth of this layer's own
  // cost.
  @exclusivity(unchecked) var observer: (any TransferObserver)?
  @exclusivity(unchecked) var phase = Phase.waiting
  @exclusivity(unchecked) var handle: CurlHandle?
  /// Its place among the transport's transfers.
  var position = 0
  /// An error that the transfer itself has found. It takes precedence over the error that libcurl reports.
  @exclusivity(unchecked) var failure: TransportError?
  var isCancelled = false
  @exclusivity(unchecked) var upload: Upload?
  var queueTime = Duration.zero
  var nameTime = Duration.zero

  var hasIssued = false
  /// Identifies the connection; nil before there is one.
  var localPort: Int32?
  /// The socket of the connection, if it is known.
  var descriptor: Int32?
  /// The connection's facts when the hop was issued; collected only if they are wanted.
  var issuedConnection: ConnectionFacts?
  /// The kept connection that libcurl chose cannot be used.
  var isSoiled = false
  var wantsFreshConnection: Bool
  /// The state of the HTTP/2 stream.
  var stream = StreamState()
  @exclusivity(unchecked) var reader: ResponseReader
  /// Takes the body; set with the head.
  @exclusivity(unchecked) var receiver: BodyReceiver?
  /// Libcurl holds a piece back until the transfer tells it to continue.
  var isPaused = false
  /// Libcurl waits for the request body.
  var isStarved = false
  /// The stream of the request body has more.
  var isSendingAgain = false
  /// The response is complete, even if libcurl still waits for something.
  var isWhole = false
  /// The transfer is in the transport's list of transfers with work to do outside libcurl.
  var isDeferred = false
  var timer: LoopTimer?
  var startedAt: Instant?
  /// The time since when it has waited for a name.
  var lookUpBegan: Instant?
  /// When the first and the last byte of a pulled body went out.
  var issuedAt: Instant?
  var sentAt: Instant?

  // Inlined, so that the arguments are moved and not copied.
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
    reader = ResponseReader()
  }

  /// Libcurl sends trailers only in its own chunks of HTTP/1.1, and which version it speaks is known too late.
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

  /// Does the work that was requested while libcurl was on the stack, or by the observer. [loop, outside libcurl]
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

  /// Passes on what the observer did not want earlier.
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
    // No byte of a response came: if libcurl has sent the request twice, it reports the times of both as one.
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

  /// Libcurl has finished with the transfer, or the transfer ends by itself. [loop, outside libcurl]
  func finish(_ code: CURLcode) {
    guard let handle = handle.take() else { return }
    if isSoiled, failure == nil, !isCancelled, let route = handle.route { return useAnotherConnection(handle, route) }
    let timings = measured(handle)
    let error = error(for: code, handle)
    noteSizes(handle)
    transport.release(handle, localPort, isSpent: error != nil)
    conclude(error, timings)
  }

  /// Nothing was sent: begins again on a new connection.
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

  /// Tells the observer, once.
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
    // Unpausing makes libcurl also ask for the request body again; if there is still no data, the callback says so
    // then.
    isStarved = false
    isSendingAgain = false
    // Inside this call, libcurl delivers the piece that it held back; if that fails, this code must end the transfer.
    let code = handle.multi.unpause(handle.easy)
    if code != CURLE_OK, case .running = phase { finish(code) }
  }

  private func error(for code: CURLcode, _ handle: CurlHandle) -> TransportError? {
    if isCancelled { return .cancelled(request) }
    if stream.isRefused, reader.status == 0 { return .notProcessed(request) }
    if let failure = failure ?? receiver?.failure ?? upload?.failure { return failure }
    if receiver?.isCut == true || isWhole { return nil }
    if stream.isCutShort, reader.isHeadDone { return .cutShort(request) }
    // If libcurl 7.88 closes the connection itself, it takes this as the end of a body without a length.
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
