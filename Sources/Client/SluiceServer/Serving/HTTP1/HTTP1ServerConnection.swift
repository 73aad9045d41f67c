import CLinux
import Glibc
import SluiceHTTP1
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTransport

/// Performs what ``ServerConnectionMachine`` decides for one connection. Only its loop uses it.
final class HTTP1ServerConnection: ServerConnection, ServerStreamCarrier {
  private var machine = ServerConnectionMachine()
  private let head: ReceivedRequestHead
  private var body = ReceivedBody.done
  private var stream: ServerStream?
  private var requestCount = 0
  /// Bytes that have arrived and are not read yet.
  private var held: [UInt8] = []
  /// Bytes of the response that are not sent yet. They begin at `sentCount`.
  private var output: [UInt8] = []
  private var sentCount = 0
  /// The framing of the response that is under way.
  private var framing = SentResponseHead.Framing.none
  /// The bytes of the response's body that are still to be given; nil if their number is not known.
  private var bytesLeft: Int?
  /// Whether bytes of the body are left out, because the response has none.
  private var skipsBody = false
  /// Whether the socket has not taken all of the output.
  private var isBlocked = false
  /// Whether the handler waits for room in the output.
  private var waitsForRoom = false
  private var lingers = false
  /// Whether a call further up the stack reads or sends on this connection.
  private var isBusy = false
  private var wait = ServerConnectionMachine.Wait.idle
  /// When the current wait ends.
  private var deadline: Instant
  /// Whether the system has reported the end of what the client sends. It does so only once, perhaps together with bytes.
  private var hasHungUp = false

  override init(_ channel: Channel, _ port: ServerPort) {
    head = ReceivedRequestHead(port.limits.messages)
    deadline = port.loop.turnBegan.advanced(byNanoseconds: port.waits.idle)
    super.init(channel, port)
  }

  var ownDescriptor: Int32? { channel.tls == nil ? descriptor : nil }

  // MARK: Events

  override func isReady(_ events: UInt32) {
    if events & EPOLLRDHUP.rawValue != 0 { hasHungUp = true }
    // The peer has reset the connection. If this side was closed, both sides can be closed, and bytes can be unread.
    let isBroken = events & EPOLLERR.rawValue != 0 || events & EPOLLHUP.rawValue != 0 && machine.input != .ended
    if isBroken { return perform(.broken) }
    if events & EPOLLOUT.rawValue != 0, hasOutput { flush() }
    if !machine.isClosed { readOn() }
  }

  /// Looks whether the client has closed its side, while its next request is not read.
  private func lookForEnd() {
    var byte: UInt8 = 0
    let outcome = withUnsafeMutableBytes(of: &byte) { channel.peek(into: $0) }
    switch outcome {
    case .end: if held.isEmpty { perform(.inputEnded) }
    case .failed: perform(.broken)
    case .bytes, .wouldBlock: break
    }
  }

  override func check(at now: Instant) {
    updateWait()
    guard now >= deadline else { return }
    perform(.timeout)
  }

  override func drain() { perform(.drain(hasOutput: hasOutput)) }

  private func perform(_ event: ServerConnectionMachine.Event) { perform(machine.handle(event, wait)) }

  private func perform(_ actions: ServerConnectionMachine.Actions) {
    if actions.contains(.cancel) { endStream() }
    if actions.contains(.refuse) { sendRefusal(machine.refusal) }
    if actions.contains(.sendContinue) { write("HTTP/1.1 100 Continue\r\n\r\n".utf8.span) }
    if actions.contains(.tellHalfClosed) { stream?.delegate?.clientHalfClosed() }
    if actions.contains(.linger) {
      lingers = true
      stream = nil
    }
    if actions.contains(.abort) { return close(isAbort: true) }
    if actions.contains(.close) { return close() }
    if actions.contains(.next) {
      head.begin()
      stream = nil
    }
    if !isBusy, !actions.isDisjoint(with: [.next, .linger, .refuse, .sendContinue]) {
      flush()
      if actions.contains(.next) { port.readLater(self) }
    }
    updateWait()
    if actions.contains(.begin), let stream { port.handler.handle(stream) }
  }

  private func endStream() {
    let stream = self.stream
    self.stream = nil
    stream?.end()
  }

  private func updateWait() {
    let now = machine.wait(hasOutput: hasOutput, isPaused: stream?.isPaused ?? false)
    guard now != wait else { return }
    wait = now
    extendWait()
  }

  private func extendWait() {
    let limit: UInt64? =
      switch wait {
      case .handler: nil
      case .idle: port.waits.idle
      case .head: port.waits.head
      case .body, .output: port.waits.body
      case .linger: port.waits.linger
      }
    deadline = limit.map { port.loop.turnBegan.advanced(byNanoseconds: $0) } ?? .distantFuture
  }

  // MARK: Reading

  /// How many times the read buffer is filled before other connections have their turn.
  private static let roundsPerTurn = 16

  /// Takes bytes that were read before it was known that the client speaks HTTP/1.
  func begin(_ bytes: UnsafeRawBufferPointer) {
    isBusy = true
    take(bytes)
    isBusy = false
    guard !machine.isClosed else { return }
    flush()
    updateWait()
  }

  override func readOn() {
    takeHeld()
    read()
  }

  private var isReading: Bool {
    guard machine.wantsInput(hasOutput: hasOutput) else { return false }
    return machine.input != .body || stream?.isPaused == false
  }

  private func read() {
    guard !isBusy else { return }
    isBusy = true
    var rounds = 0
    reading: while isReading, held.isEmpty || machine.input == .head {
      if rounds == Self.roundsPerTurn {
        port.readLater(self)
        break
      }
      rounds += 1
      switch channel.receive(into: port.buffer) {
      case .bytes(let count):
        let isDrained = channel.isDrained(afterReading: count, of: port.buffer.count)
        take(UnsafeRawBufferPointer(rebasing: port.buffer[..<count]))
        flush()
        if isDrained, !hasHungUp, machine.input != .ended { break reading }
      case .wouldBlock:
        if channel.isCut { port.readLater(self) }
        break reading
      case .end:
        perform(.inputEnded)
        break reading
      case .failed:
        perform(.broken)
        break reading
      }
    }
    isBusy = false
    if hasHungUp, machine.input == .complete { lookForEnd() }
    guard !machine.isClosed else { return }
    flush()
    updateWait()
  }

  private func take(_ bytes: UnsafeRawBufferPointer) {
    if wait == .body { extendWait() }
    guard held.isEmpty else {
      held.append(contentsOf: bytes)
      return processHeld()
    }
    let used = process(bytes.assumingMemoryBound(to: UInt8.self).span)
    if used < bytes.count, !machine.isClosed { held = Array(bytes[used...]) }
  }

  private func takeHeld() {
    guard !held.isEmpty, !isBusy, isReading else { return }
    isBusy = true
    processHeld()
    isBusy = false
  }

  private func processHeld() {
    var bytes: [UInt8] = []
    swap(&bytes, &held)
    let used = process(bytes.span)
    guard used < bytes.count, !machine.isClosed else { return }
    bytes.removeFirst(used)
    held = bytes
  }

  /// Reads requests, one after the other, and returns how many bytes were used.
  private func process(_ bytes: Span<UInt8>) -> Int {
    var position = 0
    while position < bytes.count {
      switch machine.input {
      case .idle: perform(.arrived)
      case .head: guard readHead(bytes, &position) else { return position }
      case .body: guard readBody(bytes, &position) else { return position }
      case .dropping: drop(bytes, &position)
      case .complete: return position
      case .ended: return bytes.count
      }
      if machine.isClosed { return bytes.count }
      guard machine.input == .idle else { continue }
      // Further requests wait until the response was sent.
      flush()
      if !isReading { return position }
    }
    return position
  }

  private func readHead(_ bytes: Span<UInt8>, _ position: inout Int) -> Bool {
    let rest = bytes.extracting(position..<bytes.count)
    do throws(RequestViolation) {
      guard try head.read(rest) else { return false }
    } catch {
      position = bytes.count
      perform(.refused(error.status))
      return false
    }
    guard head.form != .authority else {
      // After a 2xx, all bytes would belong to a tunnel (RFC 9110 §9.3.6).
      position = bytes.count
      perform(.refused(501))
      return false
    }
    let request = Self.request(head, rest)
    position += head.byteCount
    requestCount += 1
    body = ReceivedBody(head.body, port.limits.messages)
    let facts = ServerConnectionMachine.Head(
      hasBody: !body.isDone,
      endsConnection: head.endsConnection || requestCount >= port.limits.requestsPerConnection,
      expectsContinue: head.expectation == .continue)
    stream = ServerStream(request, from: client(head.version), on: self)
    perform(.head(facts))
    return true
  }

  private static func request(_ head: ReceivedRequestHead, _ bytes: Span<UInt8>) -> ServerRequestHead {
    func text(_ range: Range<Int>) -> String { String(copying: bytes.extracting(range)) }
    let target = text(head.target)
    // The host of the target wins (RFC 9112 §3.2.2).
    let named = head.form == .absolute ? (try? HTTPURL(target))?.hostField : nil
    return ServerRequestHead(
      method: text(head.method), target: target, form: head.form, version: head.version,
      host: named ?? head.host.map(text), fields: head.takeFields(from: bytes), body: head.body,
      hasUpgrade: head.hasUpgrade)
  }

  /// Passes the body on. Returns false if no more can be taken now.
  private func readBody(_ bytes: Span<UInt8>, _ position: inout Int) -> Bool {
    do throws(MessageViolation) {
      while !body.isDone {
        guard let stream, !stream.isPaused else { return false }
        guard let piece = try body.next(in: bytes, at: &position) else {
          if body.isDone { break }
          return false
        }
        stream.delegate?.receive(bytes.extracting(piece))
        if machine.isClosed { return true }
        guard machine.input == .body else {
          if machine.input == .dropping, body.isDone { perform(.bodyEnded) }
          return true
        }
      }
    } catch {
      position = bytes.count
      perform(.bodyRefused(RequestViolation(error).status))
      return false
    }
    var trailers = body.trailers
    trailers.removeBarredFromTrailers()
    perform(.bodyEnded)
    stream?.delegate?.receiveEnd(trailers)
    return true
  }

  private func drop(_ bytes: Span<UInt8>, _ position: inout Int) {
    let start = position
    do throws(MessageViolation) {
      while try body.next(in: bytes, at: &position) != nil {}
    } catch {
      position = bytes.count
      return perform(.bodyRefused(400))
    }
    perform(.dropped(position - start))
    if body.isDone, machine.input == .dropping { perform(.bodyEnded) }
  }

  /// Called by the stream when its handler takes the body.
  func readBody() {
    perform(.wantsBody)
    updateWait()
    port.readLater(self)
  }

  // MARK: The response

  var hasOutput: Bool { sentCount < output.count }
  var hasRoom: Bool {
    let room = output.count - sentCount < port.limits.bufferBytes
    if !room { waitsForRoom = true }
    return room
  }

  func sendInformational(_ status: Int, _ fields: HeaderFields) {
    SentResponseHead.append(to: &output, status: status, fields, .none, .stays)
    flushUnlessBusy()
  }

  func respond(_ status: Int, _ fields: HeaderFields, _ length: ServerStream.Length, closes: Bool) {
    guard let request = stream?.head else { return }
    skipsBody = request.method == "HEAD" || SentResponseHead.hasNoBody(status: status)
    bytesLeft = nil
    switch length {
    case .bytes(let count):
      let hasLength = !SentResponseHead.hasNoBody(status: status) || status == 304 && count > 0
      framing = hasLength ? .length(count) : .none
      if !skipsBody { bytesLeft = count }
    case .unknown where skipsBody: framing = .none
    case .unknown: framing = request.version == .http10 ? .close : .chunked
    }
    perform(.responseBegan(closes: closes || framing == .close))
    let persistence: SentResponseHead.Persistence =
      !machine.persists ? .closes : request.version == .http10 ? .staysForOldClient : .stays
    SentResponseHead.append(to: &output, status: status, fields, framing, persistence)
  }

  func send(_ bytes: Span<UInt8>) {
    guard machine.output == .sending else { return breakResponse() }
    guard !skipsBody, !bytes.isEmpty else { return }
    if let left = bytesLeft {
      guard bytes.count <= left else { return breakResponse() }
      bytesLeft = left - bytes.count
    }
    if framing == .chunked {
      ChunkEncoder.append(to: &output, dataBytes: bytes.count)
      output.append(copying: bytes)
      output.append("\r\n")
    } else {
      output.append(copying: bytes)
    }
    if output.count - sentCount >= Self.bytesAtOnce { flushUnlessBusy() } else { port.flushLater(self) }
  }

  /// Pieces are sent together until there are so many bytes, or the turn of the loop ends.
  private static let bytesAtOnce = 64 << 10

  func finish(_ trailers: HeaderFields) {
    guard machine.output == .sending, bytesLeft ?? 0 == 0 else { return breakResponse() }
    if framing == .chunked { ChunkEncoder.appendEnd(to: &output, trailers: trailers) }
    perform(.responseEnded)
    flushUnlessBusy()
    if machine.input == .dropping { port.readLater(self) }
  }

  /// Ends the connection, because the response cannot be completed.
  func breakResponse() {
    flush()
    perform(.responseFailed)
  }

  private func sendRefusal(_ status: Int) {
    let (fields, body) = port.handler.refusal(status)
    SentResponseHead.append(to: &output, status: status, fields.withDate(), .length(body.count), .closes)
    output.append(contentsOf: body)
    perform(.responseEnded)
  }

  private func write(_ bytes: Span<UInt8>) {
    output.append(copying: bytes)
    flushUnlessBusy()
  }

  override func flushUnlessBusy() {
    if isBusy { return }
    flush()
    updateWait()
  }

  /// Sends as much as the socket takes.
  private func flush() {
    while hasOutput, !machine.isClosed {
      let outcome = output.withUnsafeBytes { channel.send(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }
      switch outcome {
      case .bytes(let count):
        sentCount += count
        if wait == .output { extendWait() }
      case .wouldBlock: return didNotSendAll()
      case .end, .failed: return perform(.broken)
      }
    }
    guard !machine.isClosed else { return }
    output.removeAll(keepingCapacity: output.capacity <= Self.keptOutput)
    sentCount = 0
    tellRoom()
    // The handler can have sent more, or have ended the connection.
    guard !machine.isClosed, !hasOutput else { return }
    if lingers { return beginLingering() }
    // While the output was blocked, no further request was read.
    guard isBlocked || !held.isEmpty else { return }
    isBlocked = false
    port.readLater(self)
  }

  private static let keptOutput = 4096

  private func didNotSendAll() {
    isBlocked = true
    // The sent bytes are dropped now and then.
    if sentCount > Self.bytesAtOnce, sentCount >= output.count / 2 {
      output.removeFirst(sentCount)
      sentCount = 0
    }
    if output.count - sentCount <= port.limits.bufferBytes / 2 { tellRoom() }
  }

  private func tellRoom() {
    guard waitsForRoom else { return }
    waitsForRoom = false
    stream?.delegate?.canSend()
  }

  // MARK: The end

  /// Everything is sent. The end of this side tells the client so.
  private func beginLingering() {
    lingers = false
    channel.endSending()
    held = []
    port.readLater(self)
  }

  override func end() {
    var actions = machine.handle(.broken, wait)
    // The client must not take a part of a response for the whole.
    if hasOutput, actions.remove(.close) != nil { actions.insert(.abort) }
    perform(actions)
  }

  /// - Parameter isAbort: whether the client gets a reset instead of the end of the stream.
  private func close(isAbort: Bool = false) {
    endStream()
    lingers = false
    held = []
    output = []
    sentCount = 0
    remove(isAbort: isAbort)
  }
}
