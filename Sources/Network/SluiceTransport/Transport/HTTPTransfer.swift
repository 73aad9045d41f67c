import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline

/// A transfer of one hop, from the request to the whole response. Only the loop uses it.
///
/// The transport uses the object again for a later hop, when nobody else refers to it any more.
final class HTTPTransfer: Transfer {
  enum Phase {
    /// The transport has not begun to process the transfer.
    case new
    /// The transfer waits for a connection: with a dial, only for that dial's connection, otherwise for any connection
    /// to the origin.
    case waiting(Dial?)
    case running(HTTPConnection)
    /// The whole response has arrived, but the transfer cannot end yet. Its observer has not decided about the body or
    /// has paused, or a part of the body is not on disk yet.
    case held
    case ended
  }

  let transport: HTTPTransport
  /// The request. The headers are removed from it when they are issued.
  @exclusivity(unchecked) var request: Request
  @exclusivity(unchecked) private(set) var options: TransferOptions
  /// Stored here, because each query of the request would copy the request.
  private(set) var hasTrailers: Bool

  // Exclusivity is unchecked, here and in the other classes of a transfer. Only the loop uses them, and no access lasts
  // while an observer is called, so accesses cannot overlap.
  @exclusivity(unchecked) private(set) var observer: (any TransferObserver)?
  @exclusivity(unchecked) private(set) var phase = Phase.new
  /// The index of this transfer in the transport's list of transfers.
  var position = 0
  var isPostponed = false
  var isCancelled = false
  @exclusivity(unchecked) private var failure: TransportError?
  /// Whether the request is a HEAD, whose response has no body.
  private(set) var isHead = false
  /// The HTTP/2 stream that carries the transfer; 0 for none.
  var streamID: Int32 = 0
  @exclusivity(unchecked) private(set) var upload: Upload?
  /// Whether the producer of the request body has reported more data.
  private var isSendingAgain = false
  /// Takes the response body. It is set when the head arrives.
  @exclusivity(unchecked) private(set) var receiver: BodyReceiver?
  /// The trailers of the response; nil if there are none.
  @exclusivity(unchecked) private var trailers: HeaderFields?
  @exclusivity(unchecked) var times = TransferTimes()
  @exclusivity(unchecked) private(set) var issuedConnection: ConnectionFacts?
  /// The numeric address of the server; empty before the request is issued.
  private var peerAddress = ""
  private var version: HTTPVersion?
  private var isInLine = false
  /// The number of this transfer among the transfers that have waited for the same pool.
  var arrival: UInt64 = 0
  /// The number of sent body bytes that the observer was told last.
  private var toldSentBytes = 0
  /// The timer that is armed while the body waits for a 100 response.
  var continueTimer: LoopTimer?
  /// Whether the transport has added the `Expect`, which the request did not have.
  private(set) var addsExpectation = false

  // The initializer is inlined, so that the arguments are moved and not copied.
  @inline(__always)
  init(
    _ transport: HTTPTransport, _ request: consuming Request, _ options: TransferOptions,
    _ observer: any TransferObserver
  ) {
    self.transport = transport
    hasTrailers = request.hasTrailers
    self.request = consume request
    self.options = options
    self.observer = observer
  }

  /// Takes the next hop. The previous hop has ended, and all that it left is set again here.
  @inline(__always)
  func begin(
    _ request: consuming Request, _ options: TransferOptions, _ observer: any TransferObserver
  ) {
    hasTrailers = request.hasTrailers
    self.request = consume request
    self.options = options
    self.observer = observer
    phase = .new
    isCancelled = false
    if failure != nil { failure = nil }
    isHead = false
    streamID = 0
    isSendingAgain = false
    times = TransferTimes()
    peerAddress = ""
    version = nil
    isInLine = false
    arrival = 0
    toldSentBytes = 0
    addsExpectation = false
    ownPoolNumber = 0
  }

  var isOver: Bool { hasEnded || isCancelled || failure != nil }

  var hasEnded: Bool {
    if case .ended = phase { true } else { false }
  }

  /// Whether the transfer cannot take a piece of the body now.
  var isHeldBack: Bool { receiver?.isHeldBack != false }

  // MARK: Transfer

  func cancel() {
    if case .ended = phase { return }
    isCancelled = true
    receiver?.stop()
    transport.postpone(self)
  }

  func proceed(_ disposition: BodyDisposition) {
    guard let receiver, receiver.isUndecided, disposition != .hold else { return }
    receiver.begin(disposition)
    transport.postpone(self)
  }

  func resumeReceiving() {
    guard let receiver, receiver.isHeldBack else { return }
    receiver.resume()
    transport.postpone(self)
  }

  func resumeSending() {
    guard upload?.isStarved == true else { return }
    isSendingAgain = true
    transport.postpone(self)
  }

  var timings: TransferTimings? {
    if case .new = phase { return nil }
    return timings(at: Loop.now)
  }

  private func timings(at now: Instant) -> TransferTimings {
    times.timings(at: now, peer: peerAddress, version: version, bytesReceived: receiver?.receivedBytes ?? 0)
  }

  var connection: ConnectionFacts? {
    guard var connection = issuedConnection else { return nil }
    connection.version = version
    return connection
  }

  // MARK: The course of a transfer

  /// Does the work that was postponed because another call was under way. [loop, at the end of a turn]
  func runPostponed() {
    isPostponed = false
    switch phase {
    case .ended: return
    case _ where isCancelled || failure != nil: stop()
    case .new: begin()
    case .waiting: return
    case .running(let connection):
      passRestOn()
      if isOver { return stop() }
      if isSendingAgain {
        isSendingAgain = false
        connection.resumeSending(for: self)
      }
      if case .running = phase { connection.readOn(for: self) }
    case .held: conclude()
    }
  }

  private func begin() {
    if let count = request.body.byteCount, count > transport.maximumHeldBytes,
      let excess = transport.excess(of: request)
    {
      return end(excess)
    }
    if transport.mayRefuse, let refusal = transport.refusal(of: request, options) { return end(refusal) }
    isHead = request.method.utf8.count == 4 && request.method == "HEAD"
    do throws(TransportError) { try openUpload() } catch { return end(error) }
    pool.serve(self)
  }

  /// Whether the transfer still waits in the line. The line drops a transfer that has ended or waits for a connection
  /// of its own.
  var waitsInLine: Bool { isInLine && !hasEnded }

  /// For the usual pool, only the URL is passed on, because a copy of the request would cost as much as a search in the
  /// table.
  private var pool: OriginPool {
    options.handshake != nil || options.hasRoute
      ? transport.pools.pool(
        PoolKey(request, options, transport.proxies, transport.settings, for: self), transport)
      : transport.pools.pool(for: request.url, transport)
  }

  /// The number of a pool that is for this hop alone; 0 before it is needed.
  private var ownPoolNumber: UInt64 = 0

  /// Gives the hop a pool of its own.
  func takeOwnPoolNumber() -> UInt64 {
    if ownPoolNumber == 0 { ownPoolNumber = transport.pools.nextNumber() }
    return ownPoolNumber
  }

  private func openUpload() throws(TransportError) {
    switch request.body {
    case .empty, .bytes: return
    case .file, .stream: if upload == nil, !isHead { upload = try Upload(request) }
    }
  }

  /// Notes that the transfer waits: in the line of the pool, or for its own dial.
  func beginWaiting(for dial: Dial? = nil) {
    times.beginWaiting(at: Loop.now)
    phase = .waiting(dial)
    // A waiting transfer must not hold a file open.
    upload = nil
    isInLine = dial == nil
  }

  /// Passes a challenge to the observer. The challenge comes from the handshake of the connection that is being made.
  ///
  /// - Parameter answer: gets nil if the transfer no longer wants the connection.
  func ask(_ challenge: HandshakeChallenge, answer: @escaping (HandshakeDecision?) -> Void) {
    guard let observer, !isOver else { return answer(nil) }
    observer.transferDidMeet(challenge) { [self] decision in answer(isOver ? nil : decision) }
  }

  /// Called when the pool has taken the transfer out of its line.
  func leaveLine() { isInLine = false }

  /// Called when the transfer leaves the line and from then on waits for the connection of this dial.
  func leaveLine(for dial: Dial) {
    isInLine = false
    phase = .waiting(dial)
  }

  /// Prepares the request for the connection on which it will be sent.
  ///
  /// - Returns: the fields to send, or nil if the transfer has ended instead.
  func issue(on connection: HTTPConnection) -> HeaderFields? {
    guard let observer else { return nil }
    do throws(TransportError) { try openUpload() } catch {
      end(error)
      return nil
    }
    phase = .running(connection)
    isInLine = false
    times.issue(at: Loop.now, connection)
    peerAddress = connection.peerAddress
    if options.collectsConnection { issuedConnection = connection.facts }
    // The headers are moved out of the request, because they are issued only once. A second reference to them would
    // cause a copy when stages change them.
    var headers = HeaderFields()
    swap(&headers, &request.headers)
    if options.sendsBasicUnasked { headers.addCredentials(of: request.url) }
    if observer.transferWillIssue(&headers), !isCancelled { return headers }
    end(.cancelled(request))
    return nil
  }

  /// Adds `Expect: 100-continue`, which lets a large body wait until the server wants it.
  func addExpectation(to headers: inout HeaderFields, _ pool: OriginPool) {
    guard options.expectsContinue, options.refusals == 0, pool.takesExpectations,
      !request.omittedDefaults.contains(.expect),
      headers["expect"] == nil
    else { return }
    addsExpectation = true
    headers.append("Expect", "100-continue")
  }

  /// Called when the system has taken all of the body that was read so far, except for the last `unsentBytes`. Some of
  /// these bytes can be framing.
  func didSendAllBut(_ unsentBytes: Int) {
    tellSent((upload?.deliveredBytes ?? request.body.byteCount ?? 0) - unsentBytes)
  }

  /// Called when the system has taken more of the request body.
  func didSend(moreBytes count: Int) { tellSent(toldSentBytes + count) }

  private func tellSent(_ count: Int) {
    guard count > toldSentBytes, let observer else { return }
    toldSentBytes = count
    observer.transferDidSend(bodyBytes: count, of: request.body.byteCount)
  }

  func didReceiveInformational(_ status: Int, _ headers: HeaderFields) {
    observer?.transferDidReceiveInformational(status, headers)
  }

  /// The parts of a final head, apart from its fields, that a transfer needs.
  struct Head {
    var status: Int
    var version: HTTPVersion
    /// The length of the body, if the head states it; 0 if there can be no body.
    var announcedBytes: Int?
    /// Whether only the end of the connection ends the body, so that the end of the connection can also cut it short.
    var endsWithConnection = false
    /// Whether there can be a body and the head has a `Content-Encoding`.
    var hasContentCoding = false
    /// Whether there can be a body and the head's `Transfer-Encoding` names a coding other than `chunked`.
    var hasTransferCoding = false
  }

  func didReceiveHead(_ head: Head, _ headers: consuming HeaderFields) {
    guard let observer else { return }
    version = head.version
    let receiver = transport.takeReceiver()
    let codings = codings(head, &headers)
    receiver.prepare(
      options, codings: codings, announcedBytes: head.announcedBytes,
      isEndKnown: !head.endsWithConnection, owner: self)
    self.receiver = receiver
    receiver.begin(
      observer.transferDidReceiveHead(Response(status: head.status, headers: headers, version: head.version)))
    if let error = receiver.failure { failure = error }
  }

  /// Takes a piece of the body. Call it only while nothing is held back. Returns false if the transfer must end.
  func receive(_ piece: UnsafeRawBufferPointer) -> Bool { receiver.map { receive(piece, with: $0) } ?? false }

  /// Does the same as ``receive(_:)``, for a caller that already has the transfer's receiver.
  func receive(_ piece: UnsafeRawBufferPointer, with receiver: BodyReceiver) -> Bool {
    guard let observer else { return false }
    _ = receiver.take(piece, observer)
    if failure == nil { failure = receiver.failure }
    return failure == nil && !isCancelled && !receiver.isCut
  }

  /// Passes on the decoded bytes that the observer could not take earlier, if there are any.
  func passRestOn() {
    guard let receiver, receiver.hasRest, let observer else { return }
    receiver.deliverRest(observer)
    if failure == nil { failure = receiver.failure }
  }

  /// Called when the whole response has arrived and the connection is free.
  func didReceiveAll(trailers: consuming HeaderFields) {
    if !trailers.isEmpty { self.trailers = trailers }
    phase = .held
    conclude()
  }

  /// Gives up the connection, because the transfer has failed or does not want the rest of the body, and ends the
  /// transfer.
  func stop() {
    if case .running(let connection) = phase { connection.abandon(self) }
    if case .waiting(let dial?) = phase { dial.pool.abandon(dial) }
    let line = isInLine ? pool : nil
    end(isCancelled ? .cancelled(request) : failure)
    line?.waiterDidEnd()
  }

  func fail(_ error: TransportError) {
    if failure == nil { failure = error }
    stop()
  }

  private func conclude() {
    passRestOn()
    if isOver { return stop() }
    guard let receiver, !receiver.isHeldBack else { return }
    do throws(TransportError) {
      if let body = try receiver.finish() { end(nil, body) }
    } catch { end(error) }
  }

  /// Ends the transfer and tells the observer. Does nothing if the transfer has already ended.
  private func end(_ error: TransportError?, _ body: consuming Body = .empty) {
    if case .ended = phase { return }
    let now = Loop.now
    times.end(at: now)
    let timings = timings(at: now)
    let connection = connection
    phase = .ended
    transport.forget(self)
    let observer = self.observer.take()
    if let receiver = receiver.take() { transport.giveBack(receiver) }
    // The content is released here, because a pool's line may still refer to this transfer, and because the transport
    // may keep it.
    request.removeContent()
    if issuedConnection != nil { issuedConnection = nil }
    upload = nil
    if let continueTimer = continueTimer.take() { transport.loop.disarm(continueTimer) }
    observer?.transferDidEnd(
      TransferEnd(
        error: error, body: consume body, trailers: trailers.take(), timings: consume timings,
        connection: consume connection))
  }

  /// The codings that must be decoded. If the observer has asked for a decoded body, the fields describe that body
  /// afterwards.
  private func codings(_ head: Head, _ headers: inout HeaderFields) -> ContentCodings {
    var codings = ContentCodings()
    // A part of a coded body cannot be decoded (RFC 9110 §15.3.7).
    // The answer to a HEAD describes the body of a GET, which would be decoded (RFC 9110 §9.3.2).
    let isDescribed = isHead && options.decodesOnDemand && headers.contains("content-encoding")
    if head.hasContentCoding || isDescribed, head.status != 206, transport.decodesContent, options.decodesContent {
      for value in headers[values: "content-encoding"] { codings.append(value) }
      // The transport has not asked for a coding that it does not know, so the body stays as it is.
      if codings.hasUnknown { codings = ContentCodings() }
      if options.decodesOnDemand, !codings.isEmpty {
        if observer?.wantsDecodedBody == true { headers.describeDecodedBody() } else { codings = ContentCodings() }
      }
      if isDescribed { codings = ContentCodings() }
    }
    // Transfer codings come last, because a server applies them after the content codings.
    if head.hasTransferCoding {
      for value in headers[values: "transfer-encoding"] { codings.append(value) }
      codings.hasTransferCodings = true
    }
    return codings
  }
}

extension HTTPTransfer: BodyReceiverOwner {
  var receivingLoop: any EventLoop { transport.loop }
  var receivingURL: HTTPURL { request.url }
  var settingNames: SettingNames { transport.settings.names }

  func bodyCanGoOn() { transport.postpone(self) }
}

extension HTTPTransfer.Head {
  init(_ head: ResponseHead) {
    let announcedBytes: Int? =
      switch head.body {
      case .none: 0
      case .length(let count): count
      case .chunked, .close, .stream: nil
      }
    let hasBody = head.body != .none
    self.init(
      status: head.status, version: head.version, announcedBytes: announcedBytes,
      endsWithConnection: head.body == .close, hasContentCoding: hasBody && head.hasContentCoding,
      hasTransferCoding: hasBody && head.hasTransferCoding)
  }
}
