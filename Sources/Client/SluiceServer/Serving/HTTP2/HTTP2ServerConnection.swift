import CLinux
import CNGHTTP2
import Glibc
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTransport

/// A client's connection that speaks HTTP/2 (RFC 9113), with nghttp2. It carries many requests at a time. Only its loop
/// uses it.
///
/// The callbacks of nghttp2 are in `HTTP2ServerConnection+Events.swift`. What they cause is written at the end of the
/// turn, because a callback must not call a function of nghttp2 that reads or writes.
final class HTTP2ServerConnection: ServerConnection {
  /// The bytes before the first frame (RFC 9113 §3.4).
  private static let prefaceBytes = 24
  /// How many times the read buffer is filled before other connections have their turn.
  private static let roundsPerTurn = 16
  /// The size of a frame's payload up to which this side accepts frames (RFC 9113 §4.2).
  static let maximumFrameBytes = 16_384
  /// How long a connection that ends takes further requests, unless the client shows earlier that it knows.
  private static let farewellNanoseconds: UInt64 = 1_000_000_000

  let session: OpaquePointer
  private let sender: HTTP2Sender
  private(set) var streams: [Int32: HTTP2ServerStream] = [:]
  var flood: HTTP2FloodGuard
  private var frames = HTTP2FrameScanner()
  private var prefaceLeft = HTTP2ServerConnection.prefaceBytes
  private var fields = HTTP2FieldList()
  /// Bytes of responses that nghttp2 has not taken, of all streams.
  var bufferedBytes = 0
  /// Bytes of requests that handlers do not take yet, of all streams. Beyond twice the limit of a buffer, the window of
  /// the connection is not refilled.
  var heldBytes = 0 {
    didSet { if heldBytes < oldValue, unconsumedBytes > 0 { consumeConnection(0) } }
  }
  /// Received bytes that the window of the connection does not have back.
  private var unconsumedBytes = 0
  /// Whether a handler waits for room.
  var hasWaiters = false
  /// The streams whose held bytes are to be passed on.
  private var undelivered: [HTTP2ServerStream] = []
  /// The streams whose head waits for the end of the turn.
  private var headless: [HTTP2ServerStream] = []
  private var requestCount = 0
  /// The number of the last stream whose request was taken.
  private(set) var lastStream: Int32 = 0
  /// The stream whose fields are arriving, and since when. No other frame can arrive before they are complete.
  private var openHead: (stream: Int32, since: Instant)?
  /// Since when there is no stream.
  private var idleSince: Instant
  private var isClosed = false
  private var hasHungUp = false
  /// Whether the socket takes no more bytes.
  private var isBlocked = false
  private var sentBytes = 0
  private var lastProgress: Instant
  private(set) var farewell = Farewell.none

  /// How far the end of the connection is (RFC 9113 §6.8).
  enum Farewell {
    case none
    /// The client was told that the connection ends. Requests that are on their way are served until this time.
    case announced(until: Instant)
    /// No further requests are served.
    case final
  }

  /// Returns nil if there is no memory.
  static func make(_ channel: Channel, _ port: ServerPort) -> HTTP2ServerConnection? {
    HTTP2ServerSession.make(port.limits).map { HTTP2ServerConnection($0, channel, port) }
  }

  private init(_ session: OpaquePointer, _ channel: Channel, _ port: ServerPort) {
    self.session = session
    sender = HTTP2Sender(session)
    (lastProgress, idleSince) = (port.loop.turnBegan, port.loop.turnBegan)
    flood = HTTP2FloodGuard(at: lastProgress)
    super.init(channel, port)
    nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
    flushLater()
  }

  deinit { nghttp2_session_del(session) }

  // MARK: Reading

  override func isReady(_ events: UInt32) {
    if events & EPOLLRDHUP.rawValue != 0 { hasHungUp = true }
    if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return close(isAbort: true) }
    if events & EPOLLOUT.rawValue != 0, isBlocked { flushLater() }
    receive()
  }

  /// Takes bytes that were read before it was known that the client speaks HTTP/2.
  func begin(_ bytes: UnsafeRawBufferPointer) { take(bytes) }

  override func readOn() {
    let streams = undelivered
    undelivered = []
    for stream in streams { stream.deliver() }
    receive()
  }

  private func receive() {
    var rounds = 0
    while !isClosed {
      guard rounds < Self.roundsPerTurn else { return port.readLater(self) }
      rounds += 1
      switch channel.receive(into: port.buffer) {
      case .bytes(let count):
        let isDrained = channel.isDrained(afterReading: count, of: port.buffer.count)
        take(UnsafeRawBufferPointer(rebasing: port.buffer[..<count]))
        if isDrained, !hasHungUp { return }
      case .wouldBlock:
        if channel.isCut { port.readLater(self) }
        return
      case .end, .failed: return close()
      }
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    flushLater()
    flood.noteRead(at: now)
    var rest = bytes
    while !rest.isEmpty, !isClosed {
      let count = countOfNext(in: rest)
      let result = nghttp2_session_mem_recv(session, rest.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
      // After an error, nghttp2 must not be called again.
      if result < 0 { return close() }
      if flood.isExceeded {
        _ = nghttp2_session_terminate_session(session, UInt32(NGHTTP2_ENHANCE_YOUR_CALM.rawValue))
        return closeAfterFarewell()
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// The size of the next frame, as far as it has arrived, or of the preface.
  private func countOfNext(in bytes: UnsafeRawBufferPointer) -> Int {
    guard prefaceLeft == 0 else {
      let count = min(prefaceLeft, bytes.count)
      prefaceLeft -= count
      return count
    }
    let piece = frames.next(in: bytes)
    if piece.isBegun {
      note(frames.head)
      if nghttp2_frame_type(UInt32(frames.head.type)) != NGHTTP2_CONTINUATION { openHead = nil }
    }
    return piece.byteCount
  }

  /// The fields of a stream begin, or are complete.
  func fieldsAreOpen(_ isOpen: Bool, _ id: Int32) { openHead = isOpen ? (id, now) : nil }

  /// Passes on what the stream holds, when the current callback has returned.
  func deliverLater(_ stream: HTTP2ServerStream) {
    undelivered.append(stream)
    port.readLater(self)
  }

  /// Refills the window of a stream.
  func consume(_ stream: HTTP2ServerStream, _ count: Int) {
    guard !isClosed, !stream.isClosed else { return }
    _ = nghttp2_session_consume_stream(session, stream.id, count)
    flushLater()
  }

  /// Refills the window of the connection by these bytes, unless handlers hold the client back.
  func consumeConnection(_ count: Int) {
    unconsumedBytes += count
    guard !isClosed, heldBytes < 2 * port.limits.bufferBytes else { return }
    _ = nghttp2_session_consume_connection(session, unconsumedBytes)
    unconsumedBytes = 0
    flushLater()
  }

  // MARK: Streams

  func begin(_ id: Int32) {
    if case .final = farewell {
      // The client was told that this request is not processed, and can repeat it elsewhere (RFC 9113 §6.8).
      _ = nghttp2_submit_rst_stream(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, UInt32(NGHTTP2_REFUSED_STREAM.rawValue))
      return
    }
    lastStream = id
    streams[id] = HTTP2ServerStream(id, self)
    requestCount += 1
    if requestCount >= port.limits.requestsPerConnection { drain() }
  }

  func didClose(_ id: Int32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if streams.isEmpty { idleSince = now }
    if openHead?.stream == id { openHead = nil }
    stream.didClose()
    flushLater()
  }

  /// - Parameter isFault: whether the client has caused it.
  func reset(_ stream: HTTP2ServerStream, _ code: nghttp2_error_code, isFault: Bool = false) {
    guard !isClosed, !stream.isClosed else { return }
    if !isFault { stream.isGivenUp = true }
    _ = nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, UInt32(code.rawValue))
    flushLater()
  }

  func submit(informational status: Int, _ headers: HeaderFields, _ stream: HTTP2ServerStream) {
    collect(status, headers)
    _ = fields.withFields { list, count in
      nghttp2_submit_headers(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, nil, list, count, nil)
    }
    flushLater()
  }

  /// - Parameter announced: the length that the fields name.
  func submit(
    response status: Int, _ headers: HeaderFields, _ announced: Int?, hasBody: Bool, _ stream: HTTP2ServerStream
  ) {
    guard !isClosed else { return }
    collect(status, headers)
    if let announced { fields.append("content-length", decimal: announced) }
    var source = nghttp2_data_provider()
    source.source.ptr = Unmanaged.passUnretained(stream).toOpaque()
    source.read_callback = Self.readBody
    let result = fields.withFields { list, count in
      withUnsafePointer(to: source) {
        nghttp2_submit_response(session, stream.id, list, count, hasBody ? $0 : nil)
      }
    }
    if result != 0 { reset(stream, NGHTTP2_INTERNAL_ERROR) }
    flushLater()
  }

  /// Sends the head of the stream's response at the end of the turn, if nothing follows it before.
  func submitLater(_ stream: HTTP2ServerStream) {
    headless.append(stream)
    flushLater()
  }

  func submit(trailers: HeaderFields, _ id: Int32) {
    fields.removeAll()
    fields.append(trailers) { FieldSyntax.isTransportField($0) }
    _ = fields.withFields { list, count in nghttp2_submit_trailer(session, id, list, count) }
  }

  private func collect(_ status: Int, _ headers: HeaderFields) {
    fields.removeAll()
    fields.append(":status", decimal: status)
    fields.append(headers) { FieldSyntax.isTransportField($0) }
  }

  func resume(_ stream: HTTP2ServerStream) {
    guard !isClosed else { return }
    _ = nghttp2_session_resume_data(session, stream.id)
  }

  // MARK: Writing

  func flushLater() { port.flushLater(self) }

  override func flushUnlessBusy() {
    guard !isClosed else { return }
    if !headless.isEmpty {
      for stream in headless { stream.submitHead(hasBody: true) }
      headless = []
    }
    isBlocked = false
    switch sender.flush(through: channel) {
    case .done: break
    case .waiting: isBlocked = true
    case .more: flushLater()
    case .lost, .failed: return close()
    }
    if sender.sentBytes != sentBytes {
      sentBytes = sender.sentBytes
      lastProgress = now
    }
    settle()
  }

  private func settle() {
    if hasWaiters {
      hasWaiters = false
      for stream in streams.values where stream.tellRoom() { hasWaiters = true }
    }
    guard !isClosed, !isBlocked else { return }
    // nghttp2 has ended the connection, because the client has broken a rule.
    let isOver = nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    if isOver { return close() }
    if case .final = farewell, streams.isEmpty { close() }
  }

  // MARK: The end

  /// Takes no further requests, and closes when those that have begun are answered. The client is told so twice: before
  /// the second time, requests that were on their way can arrive (RFC 9113 §6.8).
  override func drain() {
    guard !isClosed, case .none = farewell else { return }
    farewell = .announced(until: now.advanced(byNanoseconds: Self.farewellNanoseconds))
    _ = nghttp2_submit_shutdown_notice(session)
    // The answer shows that the client has read the notice.
    _ = nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    flushLater()
  }

  func didReceivePingAnswer() {
    if case .announced = farewell { endFarewell() }
  }

  private func endFarewell() {
    farewell = .final
    _ = nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(session),
      UInt32(NGHTTP2_NO_ERROR.rawValue), nil, 0)
    flushLater()
  }

  override func check(at now: Instant) {
    guard !isClosed else { return }
    let waits = port.waits
    if case .announced(let end) = farewell, now >= end { endFarewell() }
    if isBlocked, now.nanoseconds(since: lastProgress) >= waits.body { return close(isAbort: true) }
    if let openHead, now.nanoseconds(since: openHead.since) >= waits.head { return close(isAbort: true) }
    if streams.isEmpty, now.nanoseconds(since: idleSince) >= waits.idle {
      _ = nghttp2_session_terminate_session(session, UInt32(NGHTTP2_NO_ERROR.rawValue))
      return closeAfterFarewell()
    }
    for stream in Array(streams.values) { stream.check(at: now, limit: waits.body) }
  }

  override func end() { close(isAbort: !streams.isEmpty) }

  /// Sends what nghttp2 has to say about the end, as far as the socket takes it.
  private func closeAfterFarewell() {
    sender.sendLast(through: channel)
    close()
  }

  private func close(isAbort: Bool = false) {
    guard !isClosed else { return }
    isClosed = true
    sender.stop()
    let ended = streams.values.sorted { $0.id < $1.id }
    streams = [:]
    for stream in ended { stream.didClose() }
    (undelivered, headless) = ([], [])
    remove(isAbort: isAbort)
  }
}
