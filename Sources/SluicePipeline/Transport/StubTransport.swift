public import SluiceMessages

/// A transport without a wire: each hop is answered by a closure. For trial runs of plugins, and for tests. Confined to its
/// loop.
public final class StubTransport: Transport {
  /// What becomes of a hop.
  public enum Reply: Sendable {
    /// A response whose body comes in these pieces, then the trailers.
    case response(Response, pieces: [[UInt8]] = [])
    /// The connection stands, and then there is no response.
    case failure(TransportError)
    /// No connection: nothing is issued.
    case connectFailure(TransportError)
    /// Nothing ever comes, save a cancellation.
    case silence
  }

  private let loop: any EventLoop
  private let answer: (Request) -> Reply
  /// The requests as they were issued, headers of the hop included.
  public fileprivate(set) var issued: [Request] = []

  public init(loop: any EventLoop, answer: @escaping (Request) -> Reply = { _ in .response(Response(status: 200)) }) {
    self.loop = loop
    self.answer = answer
  }

  public func start(_ request: Request, _ options: TransferOptions, observer: any TransferObserver) -> any Transfer {
    let transfer = StubTransfer(self, loop, request, answer(request), observer)
    loop.post { transfer.begin() }
    return transfer
  }

  public func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
    StubGatherer(maximumBytes: options.maximumResponseBytes)
  }

  public func stream(of file: FileBody) throws(TransportError) -> BodyStream {
    throw TransportError(.bodyFile, "there is no wire here, and no file is read")
  }
}

private final class StubGatherer: BodyGatherer {
  private let maximumBytes: Int
  private var bytes: [UInt8] = []

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  func append(_ piece: [UInt8]) throws(TransportError) {
    guard bytes.count + piece.count <= maximumBytes else { throw TransportError(.responseTooLarge, "too large") }
    bytes += piece
  }

  func finish() -> Body { .bytes(bytes) }
}

/// One hop. Unchecked: confined to the loop, to which it posts only itself.
private final class StubTransfer: Transfer, @unchecked Sendable {
  private let transport: StubTransport
  private let loop: any EventLoop
  private var request: Request
  private let reply: StubTransport.Reply
  private var observer: (any TransferObserver)?
  private var pieces: [[UInt8]] = []
  private var collected: [UInt8] = []
  private var disposition = BodyDisposition.hold
  private var isPaused = false

  init(
    _ transport: StubTransport, _ loop: any EventLoop, _ request: Request, _ reply: StubTransport.Reply,
    _ observer: any TransferObserver
  ) {
    self.transport = transport
    self.loop = loop
    self.request = request
    self.reply = reply
    self.observer = observer
  }

  func begin() {
    if case .connectFailure(let error) = reply { return end(TransferEnd(error: error)) }
    guard let observer, observer.transferWillIssue(&request.headers) else { return endCancelled() }
    transport.issued.append(request)
    switch reply {
    case .connectFailure, .silence: break
    case .failure(let error): end(TransferEnd(error: error))
    case .response(let response, let pieces):
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

  func resumeReceiving() {
    isPaused = false
    loop.post { self.deliver() }
  }

  private func deliver() {
    guard let observer, !isPaused, case .response(let response, _) = reply else { return }
    while !pieces.isEmpty {
      let piece = pieces.removeFirst()
      if disposition == .collect { collected += piece }
      guard disposition == .stream else { continue }
      switch observer.transferDidReceive(piece) {
      case .proceed: continue
      case .pause:
        isPaused = true
        return
      case .stop: return endCancelled()
      }
    }
    end(TransferEnd(body: collected.isEmpty ? .empty : .bytes(collected), trailers: response.trailers))
  }

  private func endCancelled() {
    end(TransferEnd(error: TransportError(.cancelled, "the transfer was cancelled")))
  }

  private func end(_ end: TransferEnd) {
    let observer = self.observer
    self.observer = nil
    observer?.transferDidEnd(end)
  }
}
