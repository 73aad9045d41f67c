import CLinux
import Glibc
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// A connection that speaks HTTP/1.1. It carries one transfer at a time. Only the loop uses it.
final class HTTP1Connection: HTTPConnection {
  /// The part of a response to which the next received byte belongs.
  enum Stage {
    /// No request is under way, so a received byte is an error of the server.
    case idle
    case head, body
    case closed
  }

  @exclusivity(unchecked) private(set) var transfer: HTTPTransfer?
  @exclusivity(unchecked) private(set) var stage = Stage.idle
  /// Until when the server keeps the connection open while it is idle, as far as the server has said it. A second is
  /// subtracted for a request that is on its way when the server closes the connection.
  private(set) var usableUntil = Instant.distantFuture

  private let head: ResponseHead
  @exclusivity(unchecked) private var body = ReceivedBody.done
  /// Received bytes that the transfer could not take yet. They begin at `heldOffset`.
  @exclusivity(unchecked) private var held: [UInt8] = []
  private var heldOffset = 0
  /// Whether the last read has left no bytes in the socket.
  private var isDrained = false

  @exclusivity(unchecked) private var sender = HTTP1Sender()
  /// The error of sending. A response may have arrived before this error.
  private var sendFailure: Int32?

  override init(_ channel: Channel, _ pool: OriginPool, _ peerAddress: String, _ dialTimes: Dial.Times) {
    head = ResponseHead(pool.transport.limits)
    super.init(channel, pool, peerAddress, dialTimes)
  }

  deinit { if stage != .closed { channel.close() } }

  /// Whether nothing has arrived since the last response. Bytes that arrive before a request would be taken as the
  /// response to it (RFC 9112 §9.2). The end of the connection would be taken as a missing response.
  ///
  /// The socket is not checked if other transfers are in flight and the request can be repeated. Requests are issued at
  /// the end of a turn, after all events of the turn, so nothing had arrived when the turn began. The system call would
  /// cost more than it gains.
  func isSilent(for transfer: HTTPTransfer) -> Bool {
    transfer.isSafe && transport.transferCount > 1 || !channel.hasInput()
  }

  // MARK: Requests

  override func issue(_ transfer: HTTPTransfer) -> Bool {
    requestCount += 1
    guard var headers = transfer.issue(on: self) else {
      requestCount -= 1
      return false
    }
    self.transfer = transfer
    stage = .head
    head.begin(isAnswerToHead: transfer.isHead)
    sendFailure = nil
    transport.output.removeAll(keepingCapacity: true)
    let framing = transfer.framing
    if case .length(let count) = framing, count > HTTPTransfer.patientBytes {
      transfer.addExpectation(to: &headers, pool)
    }
    if let way = pool.way, !way.opensTunnel { pool.prepare(&headers, transfer.request, for: way) }
    let facts = RequestHead.append(
      to: &transport.output, method: transfer.request.method, url: transfer.request.url, pool.preamble,
      omitting: transfer.request.omittedDefaults, headers, framing)
    let isChunked = framing.isChunked
    if isChunked, transfer.hasTrailers {
      RequestHead.announce(transfer.request.trailers, in: &transport.output)
    }
    if transfer.options.tellsHead { transport.settings.onSentHead?(transport.output) }
    let expects = facts.isExpectant
    sender.begin(transfer.heldBody, transfer.upload, isChunked: isChunked, expects)
    if expects { transfer.waitForContinue() }
    handle(sender.sendHead(&transport.output, through: channel))
    return true
  }

  /// Continues to send when the descriptor is ready, or when the body has more data.
  func sendOn() {
    guard transfer != nil, sendFailure == nil, !sender.isDone else { return }
    handle(sender.sendOn(through: channel))
  }

  override func resumeSending(for transfer: HTTPTransfer) {
    sender.waitsForProducer = false
    sendOn()
  }

  override func sendBody(of transfer: HTTPTransfer) {
    guard sender.waitsForContinue else { return }
    sender.waitsForContinue = false
    sendOn()
  }

  private func handle(_ progress: HTTP1Sender.Progress) {
    guard let transfer else { return }
    transfer.times.sentBytes = sender.sentBytes
    if transfer.options.tellsProgress { transfer.didSendAllBut(sender.unsentBytes) }
    switch progress {
    case .done: if sender.hasBodyLeftLater { transfer.times.sentAt = Loop.now }
    case .waiting: break
    case .more: transport.readLater(self)
    case .failed(let code):
      // The transfer does not fail yet, because the server may have answered before it closed the connection.
      sendFailure = code
      hasHungUp = true
      transport.readLater(self)
    case .bodyFailed(let error): transfer.fail(error)
    }
  }

  // MARK: Responses

  override func isReady(_ events: UInt32) {
    if stage == .idle {
      if channel.hasInput() { close() }
      return
    }
    if events & EPOLLOUT.rawValue != 0 { sendOn() }
    if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { hasHungUp = true }
    // With TLS, a read may have had to wait until the socket could be written.
    if events & ~EPOLLOUT.rawValue != 0 || channel.tls != nil { receive() }
    if events & EPOLLERR.rawValue != 0 { noteReset() }
  }

  /// Called when the peer has reset the connection. If the observer has not decided about the body yet, the remaining
  /// bytes are read. The transfer then fails at once unless the whole body has arrived. If the observer has decided,
  /// the transfer first gets the bytes that arrived before the reset, and then the error.
  private func noteReset() {
    guard let transfer, stage == .body, transfer.receiver?.isUndecided == true else { return }
    while held.count - heldOffset < Self.keptAtReset {
      guard case .bytes(let count) = channel.receive(into: transport.input) else { break }
      held.append(contentsOf: transport.input[..<count])
    }
    if !body.isWhole(in: held.count - heldOffset) { didBreak(ECONNRESET) }
  }

  /// The maximum number of bytes that are read after a reset for a transfer that cannot take them yet.
  private static let keptAtReset = 1 << 20

  override func readOn(for transfer: HTTPTransfer) { readOn() }

  override func readOn() {
    guard stage != .closed else { return }
    if stage == .idle { return isReady(EPOLLIN.rawValue) }
    if sendFailure == nil { sendOn() }
    if stage == .head { takeHeld() }
    receive()
  }

  /// How many times the read buffer is filled before other connections have their turn.
  private static let roundsPerTurn = 16

  private var isReading: Bool {
    (stage == .head || stage == .body) && (stage == .head || transfer?.isHeldBack == false)
  }

  private func receive() {
    // The held bytes arrived before those in the socket, so they are taken first.
    if stage == .body {
      takeHeld()
      if !held.isEmpty { return }
    }
    var rounds = 0
    while isReading {
      if rounds == Self.roundsPerTurn { return transport.readLater(self) }
      rounds += 1
      switch channel.receive(into: transport.input) {
      case .bytes(let count):
        isDrained = channel.isDrained(afterReading: count, of: transport.input.count)
        take(UnsafeRawBufferPointer(rebasing: transport.input[..<count]))
        if isDrained, !hasHungUp { return }
      case .wouldBlock:
        if channel.isCut { return transport.readLater(self) }
        if let sendFailure { didBreak(sendFailure) }
        return
      case .end: return didEnd()
      case .failed(let code): return didBreak(code)
      }
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    guard let transfer else { return }
    transfer.times.receive(at: Loop.now)
    guard held.isEmpty else {
      held.append(contentsOf: bytes)
      return processHeld(transfer)
    }
    let used = process(bytes.assumingMemoryBound(to: UInt8.self).span, transfer)
    if self.transfer != nil, used < bytes.count { held = Array(bytes[used...]) }
  }

  private func takeHeld() {
    guard !held.isEmpty, isReading, let transfer else { return }
    // More bytes may have arrived since the last read.
    isDrained = false
    processHeld(transfer)
  }

  private func processHeld(_ transfer: HTTPTransfer) {
    var bytes: [UInt8] = []
    swap(&bytes, &held)
    let start = heldOffset
    heldOffset = 0
    let used = process(bytes.span.extracting(start..<bytes.count), transfer)
    guard self.transfer != nil, start + used < bytes.count else { return }
    held = bytes
    heldOffset = start + used
    // The remaining bytes are moved to the front only now and then. A large buffer is not moved for each small piece.
    guard heldOffset > 4096, heldOffset > held.count / 2 else { return }
    held.removeFirst(heldOffset)
    heldOffset = 0
  }

  /// Processes received bytes, and returns how many were used. Afterwards the connection may have another transfer, or
  /// none.
  private func process(_ bytes: Span<UInt8>, _ transfer: HTTPTransfer) -> Int {
    var position = 0
    do throws(MessageViolation) {
      if stage == .head, try !readHeads(bytes, &position, transfer) { return position }
      if !body.isDone, try !takeBody(bytes, &position, transfer) { return position }
      if body.isDone { complete(transfer, isClean: position == bytes.count) }
    } catch {
      let isOfProxy = pool.way?.opensTunnel == false
      transfer.fail(
        TransportFailure.invalid(error, transfer.request.url.origin, from: isOfProxy ? pool.peersThroughProxy : nil))
    }
    return position
  }

  /// Passes on the part of the body that these bytes contain. Returns false if the transfer must end or cannot take
  /// more now.
  private func takeBody(
    _ bytes: Span<UInt8>, _ position: inout Int, _ transfer: HTTPTransfer
  ) throws(MessageViolation) -> Bool {
    // This property of the transfer is read only once, because a transfer keeps its receiver until it has ended.
    guard let receiver = transfer.receiver else { return false }
    repeat {
      if receiver.hasRest { transfer.passRestOn() }
      if transfer.isOver {
        transfer.stop()
        return false
      }
      if receiver.isHeldBack { return false }
      guard let piece = try body.next(in: bytes, at: &position) else { return true }
      let goesOn = bytes.extracting(piece).withUnsafeBytes { transfer.receive($0, with: receiver) }
      if !goesOn {
        transfer.stop()
        return false
      }
    } while !body.isDone
    return true
  }

  /// Reads informational heads and the final head. Returns whether the final head has arrived and the body can be read.
  private func readHeads(
    _ bytes: Span<UInt8>, _ position: inout Int, _ transfer: HTTPTransfer
  ) throws(MessageViolation) -> Bool {
    while true {
      let rest = bytes.extracting(position..<bytes.count)
      guard try head.read(rest) else { return false }
      let fields = head.takeFields(from: rest)
      position += head.byteCount
      guard head.isInformational else {
        stage = .body
        body = ReceivedBody(head.body, transport.limits)
        if head.status == 417, transfer.addsExpectation, transfer.request.body.isReplayable {
          pool.takesExpectations = false
          transfer.fail(TransportFailure.expectation(transfer.request.url.origin))
          return false
        }
        // In a refusal, the server has answered without reading the whole body. Otherwise, it may still be reading the
        // body.
        let isRefusal = head.status >= 400 || sender.waitsForContinue && (head.status >= 300 || head.endsConnection)
        if isRefusal { sender.stop() } else { sendBody(of: transfer) }
        transfer.didReceiveHead(HTTPTransfer.Head(head), fields)
        break
      }
      let status = head.status
      head.beginNext()
      transfer.didReceiveInformational(status, fields)
      if transfer.isOver { break }
      if status == 100 { sendBody(of: transfer) }
      if self.transfer == nil { return false }
    }
    guard !transfer.isOver else {
      transfer.stop()
      return false
    }
    return true
  }

  /// Ends the exchange when the whole response has arrived.
  ///
  /// - Parameter isClean: whether no byte has arrived after the response.
  private func complete(_ transfer: HTTPTransfer, isClean: Bool) {
    let trailers = body.trailers
    if let seconds = head.keepAliveSeconds {
      usableUntil = transport.loop.turnBegan + .seconds(min(max(seconds, 1), 86_400) - 1)
    }
    let isReusable =
      isClean && sender.isDone && usableUntil > transport.loop.turnBegan && sendFailure == nil && !hasHungUp
      && !head.endsConnection && transport.keepsConnections
      && !head.contradictsNoBody
      && (isDrained || !channel.hasInput())
    self.transfer = nil
    stage = .idle
    body = .done
    sender.reset()
    if isReusable { pool.release(self) } else { close() }
    transfer.didReceiveAll(trailers: trailers)
  }

  // MARK: The end

  private func didEnd() {
    guard let transfer else { return close() }
    if stage == .body, body.mayEndWithConnection { return complete(transfer, isClean: false) }
    didBreak(0)
  }

  private func didBreak(_ code: Int32) {
    guard let transfer else { return close() }
    let origin = transfer.request.url.origin
    let isUnanswered = transfer.times.firstByteAt == nil
    if isUnanswered, requestCount > 1 {
      return transfer.fail(
        TransportFailure.resent(origin, transfer.request.method, isBeforeSending: sender.sentBytes == 0))
    }
    if let failure = channel.tls?.failure, let error = TransportFailure.refusal(origin, failure, pool.settings) {
      return transfer.fail(error)
    }
    transfer.fail(
      TransportFailure.lost(
        origin, channel.tls?.failure, code == 0 ? sendFailure ?? 0 : code, through: pool.peersThroughProxy,
        hasBytes: !isUnanswered, hasHead: stage == .body, isBeforeSending: sender.sentBytes == 0))
  }

  override func abandon(_ transfer: HTTPTransfer) { close() }

  override func close() {
    guard stage != .closed else { return }
    stage = .closed
    transfer = nil
    held = []
    heldOffset = 0
    transport.remove(channel.socket.descriptor)
    channel.close()
    pool.didClose(self)
  }
}
