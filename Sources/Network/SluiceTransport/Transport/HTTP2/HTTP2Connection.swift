import CLinux
import CNGHTTP2
import Glibc
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A connection that speaks HTTP/2 (RFC 9113) with nghttp2. It carries many transfers at a time. Only the loop uses it.
///
/// The callbacks of nghttp2 are in `HTTP2Connection+Events.swift`. A callback must not call a function of nghttp2 that
/// reads or writes.
///
/// Each stream has its own window. If a stream's transfer takes no bytes, the stream's bytes are held here, up to the
/// size of its window. The window of the connection is refilled at once, so that such a stream does not stop the other
/// streams.
final class HTTP2Connection: HTTPConnection {
  /// The maximum number of streams at a time, even if the server allows more or has not named a limit yet.
  private static let maximumStreams = 1000
  /// The size of a frame's payload up to which this side accepts frames (RFC 9113 §4.2).
  static let maximumFrameBytes = 16_384
  /// How many times the read buffer is filled in one turn, so that other connections get their turn.
  private static let roundsPerTurn = 16

  let session: OpaquePointer
  @exclusivity(unchecked) var streams: [Int32: HTTP2Stream] = [:]
  /// The number of streams that nghttp2 has not closed.
  var openStreams = 0
  /// Whether, since the last check, a stream has ended or the server has allowed more streams.
  var hasNewRoom = false
  /// The limits on requests that were learned from what the server has refused.
  @exclusivity(unchecked) var refusals: HTTP2Refusals
  /// Whether the server takes no new streams.
  var isDraining = false
  private(set) var isClosed = false
  var hasSettings = false
  var flood: HTTP2FloodGuard
  private(set) var frames = HTTP2FrameScanner()
  /// Whether this connection is in the transport's list of connections to write to.
  var isUnflushed = false
  let sender: HTTP2Sender
  private(set) var lastReceived: Instant
  /// Whether a PING was sent and not answered yet. Until the answer, no request is sent.
  var isTrying = false
  /// Whether this PING was sent because a request got no answer. Requests then need not wait for the PING.
  var isDoubted = false
  /// The content of the server's last GOAWAY.
  var farewell: HTTP2Farewell?
  let pingTimer = LoopTimer()

  /// Returns nil if there is no memory.
  init?(on channel: Channel, _ pool: OriginPool, _ peerAddress: String, _ dialTimes: Dial.Times) {
    guard let session = HTTP2Session.make(pool.transport.limits) else { return nil }
    self.session = session
    sender = HTTP2Sender(session)
    lastReceived = Loop.now
    flood = HTTP2FloodGuard(at: lastReceived)
    refusals = HTTP2Refusals(allowance: pool.allowance)
    super.init(channel, pool, peerAddress, dialTimes)
    nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
    transport.flushLater(self)
  }

  deinit {
    nghttp2_session_del(session)
    if !isClosed { channel.close() }
  }

  // MARK: Requests

  /// How many more requests can be issued now.
  var room: Int {
    guard !isClosed, !isDraining, !isTrying, nghttp2_session_check_request_allowed(session) != 0 else { return 0 }
    return max(0, min(refusals.room(requests: requestCount, open: openStreams), streamLimit - openStreams))
  }

  /// How many streams the server allows at a time. Until the server has said it, the limit of the origin's last
  /// connection counts.
  var streamLimit: Int {
    guard hasSettings else {
      return min(pool.lastStreamLimit ?? HTTP2Session.assumedStreams, HTTP2Session.assumedStreams)
    }
    let allowed = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    return min(Int(allowed), Self.maximumStreams)
  }

  /// Whether the server accepts new streams, now or when others have ended.
  var isAccepting: Bool { !isClosed && !isDraining && nghttp2_session_check_request_allowed(session) != 0 }

  /// Takes no more requests. The connection closes when its streams have ended.
  func drain() {
    isDraining = true
    transport.flushLater(self)
  }

  /// Reads what has arrived since the connection became idle, such as the end of the connection. Returns false if
  /// nothing has arrived.
  func catchUp() -> Bool {
    guard openStreams == 0, isIdle, channel.hasInput() else { return false }
    receive()
    return true
  }

  override func issue(_ transfer: HTTPTransfer) -> Bool {
    requestCount += 1
    guard let headers = transfer.issue(on: self) else {
      requestCount -= 1
      // The connection may be idle again.
      transport.flushLater(self)
      return false
    }
    if isIdle { transport.pools.endIdle(self) }
    let framing = transfer.framing
    let fields = transport.http2Fields
    fields.collect(transfer.request, pool.preamble, headers, framing)
    if transfer.options.tellsHead {
      transport.settings.onSentHead?(fields.text)
    }
    let stream = HTTP2Stream(
      transfer, isReused: requestCount > 1, waitsForContinue: fields.expectsContinue)
    var source = nghttp2_data_provider()
    source.source.ptr = Unmanaged.passUnretained(stream).toOpaque()
    source.read_callback = Self.readBody
    let id = fields.withFields { list, count in
      withUnsafePointer(to: source) {
        nghttp2_submit_request(session, nil, list, count, stream.hasRequestBody ? $0 : nil, nil)
      }
    }
    guard id > 0 else {
      transport.flushLater(self)
      transfer.fail(TransportFailure.stream(pool.origin, id))
      return true
    }
    stream.id = id
    transfer.streamID = id
    streams[id] = stream
    openStreams += 1
    if stream.waitsForContinue { transfer.waitForContinue() }
    transport.flushLater(self)
    return true
  }

  override func resumeSending(for transfer: HTTPTransfer) { resumeSending(stream(of: transfer)) }

  override func sendBody(of transfer: HTTPTransfer) {
    guard let stream = stream(of: transfer), stream.waitsForContinue else { return }
    stream.waitsForContinue = false
    resumeSending(stream)
  }

  private func resumeSending(_ stream: HTTP2Stream?) {
    guard let stream, stream.isDeferred, !isClosed, !stream.isClosed else { return }
    stream.isDeferred = false
    _ = nghttp2_session_resume_data(session, stream.id)
    transport.flushLater(self)
  }

  override func abandon(_ transfer: HTTPTransfer) {
    guard let stream = stream(of: transfer) else { return }
    stream.transfer = nil
    stream.dropHeld()
    stream.dropRequest()
    reset(stream, NGHTTP2_CANCEL)
    if isSilent(for: transfer) { doubt() }
  }

  /// Resets a stream, which tells the server that this side wants no more of its data.
  func reset(_ stream: HTTP2Stream, _ code: nghttp2_error_code) {
    guard !isClosed, !stream.isClosed else {
      streams[stream.id] = nil
      return
    }
    _ = nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, UInt32(code.rawValue))
    transport.flushLater(self)
  }

  private func stream(of transfer: HTTPTransfer) -> HTTP2Stream? {
    guard let stream = streams[transfer.streamID], stream.transfer === transfer else { return nil }
    return stream
  }

  // MARK: Responses

  override func readOn(for transfer: HTTPTransfer) {
    guard let stream = stream(of: transfer) else { return }
    deliverHeld(stream)
  }

  /// Passes on the held bytes, which the transfer could not take earlier.
  private func deliverHeld(_ stream: HTTP2Stream) {
    while let transfer = stream.transfer, stream.heldOffset < stream.held.count {
      transfer.passRestOn()
      if transfer.isOver { return transfer.stop() }
      if transfer.isHeldBack { return }
      let count = min(Self.pieceBytes, stream.held.count - stream.heldOffset)
      // The array is retained, because the transfer may end the stream during the call.
      let held = stream.held
      let isTaken = held.withUnsafeBytes {
        transfer.receive(UnsafeRawBufferPointer(rebasing: $0[stream.heldOffset..<stream.heldOffset + count]))
      }
      stream.heldOffset += count
      stream.trimHeld()
      guard isTaken else { return transfer.stop() }
      consume(stream, count)
    }
    guard stream.transfer != nil else { return }
    stream.dropHeld()
    if stream.isWhole { finish(stream) }
  }

  private static let pieceBytes = 16_384

  /// Adds the trailers of a request. Called while nghttp2 reads the request's body.
  func submit(_ trailers: borrowing HeaderFields, _ id: Int32) {
    transport.http2Fields.collect(trailers: trailers)
    transport.http2Fields.withFields { list, count in _ = nghttp2_submit_trailer(session, id, list, count) }
  }

  /// Called when the end of the response has arrived.
  func end(_ stream: HTTP2Stream) {
    stream.isWhole = true
    if stream.heldOffset == stream.held.count { finish(stream) }
  }

  private func finish(_ stream: HTTP2Stream) {
    guard let transfer = stream.transfer.take() else { return }
    if stream.isClosed {
      streams[stream.id] = nil
    } else if !stream.isRequestSent {
      // The server has answered before it got the whole request (RFC 9113 §8.1).
      stream.dropRequest()
      reset(stream, NGHTTP2_CANCEL)
    }
    transfer.didReceiveAll(trailers: stream.receivedTrailers)
  }

  // MARK: The socket

  override func isReady(_ events: UInt32) {
    guard !isClosed else { return }
    if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { hasHungUp = true }
    if events & EPOLLOUT.rawValue != 0 { transport.flushLater(self) }
    // With TLS, a read may have had to wait until the socket could be written.
    if events & ~EPOLLOUT.rawValue != 0 || channel.tls != nil { receive() }
  }

  override func readOn() {
    guard !isClosed else { return }
    receive()
  }

  private func receive() {
    var rounds = 0
    while !isClosed {
      if rounds == Self.roundsPerTurn { return transport.readLater(self) }
      rounds += 1
      switch channel.receive(into: transport.input) {
      case .bytes(let count):
        let isDrained = channel.isDrained(afterReading: count, of: transport.input.count)
        lastReceived = transport.loop.turnBegan
        take(transport.input, count)
        if isDrained, !hasHungUp { return }
      case .wouldBlock:
        if channel.isCut { transport.readLater(self) }
        return
      case .end: return didBreak(0)
      case .failed(let code): return didBreak(code)
      }
    }
  }

  private func take(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) {
    transport.flushLater(self)
    flood.noteRead(at: lastReceived)
    var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
    // nghttp2 gets one frame at a time, so that it is known which frame has broken a rule.
    while !rest.isEmpty, !isClosed {
      let piece = frames.next(in: rest)
      if piece.isBegun { note(frames.head) }
      let result = nghttp2_session_mem_recv(
        session, rest.baseAddress?.assumingMemoryBound(to: UInt8.self), piece.byteCount)
      // After an error, nghttp2 must not be called again.
      if result < 0 { return endBroken(saying: false) }
      // If a rule was broken without such an error, nghttp2 can still send a GOAWAY with the reason.
      if flood.isExceeded || hasBrokenRule || nghttp2_session_want_read(session) == 0 {
        noteRefusals()
        return endBroken()
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[piece.byteCount...])
    }
    noteRefusals()
    settle()
  }

  /// Acts on changes of the connection's state after reading or writing.
  private func settle() {
    guard !isClosed else { return }
    noteRefusals()
    if !isAccepting, !isDraining {
      isDraining = true
      pool.stopUsing(self)
    }
    if hasNewRoom {
      hasNewRoom = false
      pool.didMakeRoom(self)
    }
    guard !isClosed, openStreams == 0 else { return }
    if isDraining { return close() }
    if !isIdle { pool.didBecomeIdle(self) }
  }

  private func noteRefusals() {
    let hasRoom = refusals.settle(
      requests: requestCount, open: openStreams, isDraining: !isAccepting, next: &pool.allowance)
    if hasRoom { hasNewRoom = true }
  }

  /// Writes the pending bytes, as far as the socket takes them. [loop, at the end of a turn]
  func flush() {
    guard !isClosed else { return }
    switch sender.flush(through: channel) {
    case .done: break
    case .waiting: return
    case .more: return transport.flushLater(self)
    case .lost:
      // The connection is not ended here, because bytes that the peer sent before it closed must be read first.
      hasHungUp = true
      return transport.readLater(self)
    case .failed: return endBroken(saying: false)
    }
    if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0 { return endBroken() }
    settle()
  }

  // MARK: The end

  override func close() {
    guard !isClosed else { return }
    isClosed = true
    endDoubt()
    transport.loop.disarm(pingTimer)
    sender.stop()
    transport.remove(channel.socket.descriptor)
    channel.close()
    pool.didClose(self)
  }

  /// Closes a connection that has no streams, and tells the server with a GOAWAY (RFC 9113 §6.8).
  override func closeIdle() {
    guard !isClosed else { return }
    _ = nghttp2_session_terminate_session(session, UInt32(NGHTTP2_NO_ERROR.rawValue))
    sender.sendLast(through: channel)
    close()
  }
}
