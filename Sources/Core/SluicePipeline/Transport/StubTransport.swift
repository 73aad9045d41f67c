package import SluiceMessages

/// A transport without a wire: a closure answers each hop. Trial runs of plugins and tests use it. Confined to its
/// loop.
package final class StubTransport: Transport {
  /// The result of a hop.
  package enum Reply: Sendable {
    /// A response whose body comes in these pieces, or at once. After the body come the trailers, or a failure. The
    /// failure is not reported if the body is not wanted. A 103 response comes first for each of the hints.
    case response(
      Response, pieces: [[UInt8]] = [], failure: TransportError? = nil, hints: [HeaderFields] = [])
    /// The head and these pieces; then nothing until the transfer is cancelled.
    case stalled(Response, pieces: [[UInt8]] = [])
    /// The connection opens, but no response comes.
    case failure(TransportError)
    /// No connection, so nothing is issued.
    case connectFailure(TransportError)
    /// The connection opens; then nothing happens until a cancellation.
    case silence
    /// No connection, and nothing happens until a cancellation.
    case noConnection
  }

  private let loop: any EventLoop
  private let answer: (Request) -> Reply
  /// The transport that reads and writes the files of bodies; without it no files are used.
  private let files: (any Transport)?
  /// Whether the body of a request is read to its end before it is answered.
  private let readsBodies: Bool
  /// The requests as they were issued, including the headers of the hop, and the bytes of the body if it was read.
  package fileprivate(set) var issued: [Request] = []
  /// Called when a hop has nothing left to deliver and does not end by itself.
  package var whenStalled: (() -> Void)?
  /// The options of each hop that was started.
  package private(set) var options: [TransferOptions] = []

  /// - Parameters:
  ///   - files: the transport that reads and writes the files of bodies.
  ///   - readsBodies: whether the body of a request is read to its end before it is answered.
  package init(
    loop: any EventLoop, files: (any Transport)? = nil, readsBodies: Bool = false,
    answer: @escaping (Request) -> Reply = { _ in .response(Response(status: 200)) }
  ) {
    self.loop = loop
    self.files = files
    self.readsBodies = readsBodies
    self.answer = answer
  }

  package func usesProxy(for origin: Origin) -> Bool { files?.usesProxy(for: origin) ?? false }

  package func start(_ request: Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer {
    self.options.append(options)
    let transfer = StubTransfer(self, loop, request, answer(request), observer, readsBody: readsBodies)
    loop.post { transfer.begin() }
    return transfer
  }

  package func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    files?.makeBodyGatherer(options) ?? StubGatherer(maximumBytes: options.maximumResponseBytes)
  }

  package func stream(of file: FileBody) throws(TransportError) -> BodyStream {
    guard let files else { throw TransportError(.bodyFile, "there is no wire here, and files are not read") }
    return try files.stream(of: file)
  }
}

private final class StubGatherer: BodyGatherer {
  var whenReady: (() -> Void)?
  private let maximumBytes: Int
  private var bytes: [UInt8] = []

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress {
    guard bytes.count + piece.count <= maximumBytes else { throw TransportError(.responseTooLarge, "too large") }
    bytes += piece
    return .proceed
  }

  func finish() -> Body? { .bytes(bytes) }
}

/// One hop. Unchecked because it is confined to the loop, to which it posts only itself.
private final class StubTransfer: Transfer, @unchecked Sendable {
  private let transport: StubTransport
  private let loop: any EventLoop
  private var request: Request
  private let reply: StubTransport.Reply
  private var observer: (any TransferObserver)?
  private let readsBody: Bool
  private var sent: [UInt8] = []
  private var isSent = false
  private var pieces: [[UInt8]] = []
  private var collected: [UInt8] = []
  /// The rest of a streamed body from a file.
  private var stream: BodyStream?
  private var disposition = BodyDisposition.hold
  private var isPaused = false

  init(
    _ transport: StubTransport, _ loop: any EventLoop, _ request: Request, _ reply: StubTransport.Reply,
    _ observer: any TransferObserver, readsBody: Bool
  ) {
    self.readsBody = readsBody
    self.transport = transport
    self.loop = loop
    self.request = request
    self.reply = reply
    self.observer = observer
  }

  func begin() {
    if case .connectFailure(let error) = reply { return end(TransferEnd(error: error)) }
    if case .noConnection = reply { return stall() }
    guard let observer, observer.transferWillIssue(&request.headers) else { return endCancelled() }
    transport.issued.append(request)
    upload()
  }

  /// Reads what is available of the body, and answers when the body has ended.
  private func upload() {
    guard let observer, !isSent else { return }
    if readsBody, case .stream(let stream) = request.body {
      do {
        while let piece = try stream.read(65_536) {
          if piece.isEmpty { return }
          sent += piece
        }
      } catch {
        return end(TransferEnd(error: error as? TransportError ?? TransportError(.bodyFile, "\(error)")))
      }
      transport.issued[transport.issued.count - 1].body = .bytes(sent)
      if let trailers = stream.trailers { transport.issued[transport.issued.count - 1].trailers = trailers() }
    }
    isSent = true
    respond(observer)
  }

  private func respond(_ observer: any TransferObserver) {
    switch reply {
    case .connectFailure, .noConnection: break
    case .silence: stall()
    case .failure(let error): end(TransferEnd(error: error))
    case .stalled(let response, let pieces):
      self.pieces = pieces
      disposition = observer.transferDidReceiveHead(response)
      if disposition != .hold { deliver() }
    case .response(let response, let pieces, _, let hints):
      for hint in hints { observer.transferDidReceiveInformational(103, hint) }
      self.pieces = pieces.isEmpty ? [response.body.bytes ?? []] : pieces
      var head = response
      head.body = .empty
      head.trailers = HeaderFields()
      disposition = observer.transferDidReceiveHead(head)
      if disposition != .hold { deliver() }
    }
  }

  func cancel() { loop.post { self.endCancelled() } }

  func proceed(_ disposition: BodyDisposition) {
    self.disposition = disposition
    loop.post { self.deliver() }
  }

  func resumeSending() { loop.post { self.upload() } }

  func resumeReceiving() {
    isPaused = false
    loop.post { self.deliver() }
  }

  private func deliver() {
    guard let observer, !isPaused else { return }
    guard case .response(let response, _, let failure, _) = reply else {
      if deliverPieces(to: observer) { stall() }
      return
    }
    if disposition == .discard { return end(TransferEnd(trailers: response.trailers)) }
    if case .file(let file) = response.body {
      guard disposition == .stream else {
        return end(
          failure.map { TransferEnd(error: $0) } ?? TransferEnd(body: response.body, trailers: response.trailers))
      }
      do throws(TransportError) { if stream == nil { stream = try transport.stream(of: file) } } catch {
        return end(TransferEnd(error: error))
      }
    }
    guard deliverPieces(to: observer) else { return }
    if let failure { return end(TransferEnd(error: failure)) }
    end(TransferEnd(body: collected.isEmpty ? .empty : .bytes(collected), trailers: response.trailers))
  }

  /// Returns false when the observer has paused or stopped.
  private func deliverPieces(to observer: any TransferObserver) -> Bool {
    while let piece = nextPiece() {
      if disposition == .collect { collected += piece }
      guard disposition == .stream else { continue }
      switch observer.transferDidReceive(piece) {
      case .proceed: continue
      case .pause:
        isPaused = true
        return false
      case .stop:
        endCancelled()
        return false
      }
    }
    return true
  }

  private func nextPiece() -> [UInt8]? {
    if let stream { return (try? stream.read(65_536)) ?? nil }
    return pieces.isEmpty ? nil : pieces.removeFirst()
  }

  private func stall() { transport.whenStalled?() }

  private func endCancelled() {
    end(TransferEnd(error: TransportError(.cancelled, "the transfer was cancelled")))
  }

  private func end(_ end: TransferEnd) {
    let observer = self.observer
    self.observer = nil
    observer?.transferDidEnd(end)
  }
}
