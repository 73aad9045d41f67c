import SluiceMessages
import SluiceTraceContext

/// Records one transaction. Unchecked because it is confined to its loop.
final class ExchangeRecorder: @unchecked Sendable {
  private let transport: any Transport
  private let options: TransferOptions
  private let callOuts: (any CallOutLog)?
  private var exchange: RecordedExchange
  private var hops: [HopRecorder] = []
  private var requestBody: RecordedBody?
  /// The piece that was read and is not passed on yet; `.some(nil)` stands for the end of the body.
  private var heldPiece: [UInt8]??
  private var readBytes = 0
  private var hasReadRequest = false

  /// - Parameter time: the wall-clock time at which the transaction began.
  init(
    _ request: Request, _ parent: ParentContext, at time: Duration, _ transport: any Transport,
    _ options: TransferOptions, _ callOuts: (any CallOutLog)?
  ) {
    self.transport = transport
    self.callOuts = callOuts
    self.options = options
    exchange = RecordedExchange(request)
    exchange.parent = parent
    exchange.time = time
    if case .stream = request.body { exchange.isRequestStreamed = true }
  }

  /// The request body for the transaction. A streamed body is gathered while it is read for the first time.
  func tapped(_ body: Body) -> Body {
    guard case .stream(let given) = body else { return body }
    let stream = given.taken()
    let requestBody = RecordedBody(transport.makeBodyGatherer(options))
    self.requestBody = requestBody
    let tapped = stream.mapped { [self] maximum in try read(stream, maximum) }
    requestBody.whenReady = { [weak tapped] in tapped?.wake() }
    return .stream(tapped)
  }

  /// Gives the reader the next piece, or the end, as soon as the disk has caught up.
  private func read(_ stream: BodyStream, _ maximum: Int) throws -> [UInt8]? {
    if isBehind { return [] }
    if let piece = heldPiece.take() { return piece }
    let piece = try stream.read(maximum)
    take(piece)
    guard isBehind else { return piece }
    heldPiece = .some(piece)
    return []
  }

  private var isBehind: Bool { requestBody?.isReady == false }

  private func take(_ piece: [UInt8]?) {
    if let piece {
      requestBody?.append(piece)
      readBytes += piece.count
    }
    let isWhole = piece == nil || exchange.request.body.byteCount.map { readBytes >= $0 } == true
    guard isWhole, !hasReadRequest else { return }
    hasReadRequest = true
    requestBody?.finish()
  }

  /// Inserts itself between the transport and a transaction for one hop.
  func observe(_ observer: any TransferObserver, _ resume: @escaping () -> Void) -> any TransferObserver {
    let hop = HopRecorder(observer, RecordedBody(transport.makeBodyGatherer(options)), resume)
    hops.append(hop)
    return hop
  }

  /// Called when the body of the current hop is not wanted.
  func willDiscard() { hops.last?.discard() }

  /// Called when the current hop has taken too long and is ended.
  func willCut(_ error: TransportError) { hops.last?.cut(error) }

  /// The complete recording, after the end of the transaction.
  func finish() -> RecordedExchange {
    exchange.hops = hops.map { $0.finish() }
    if !exchange.request.isSample { exchange.callOuts = callOuts?.takeAll() ?? [] }
    // Breaks a cycle: the hop recorders refer to the transaction, which refers to this object.
    hops = []
    if exchange.isRequestStreamed {
      requestBody?.finish()
      exchange.request.body = requestBody?.body ?? .empty
      exchange.isRequestWhole = hasReadRequest && requestBody?.body != nil
      requestBody = nil
    }
    return exchange.request.isSample ? exchange.sample : exchange
  }
}
