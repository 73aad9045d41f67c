import SluiceMessages
import SluiceTraceContext

/// Records one transaction. Confined to its loop, unchecked for that reason.
final class ExchangeRecorder: @unchecked Sendable {
  private let transport: any Transport
  private let options: TransferOptions
  private var exchange: RecordedExchange
  private var hops: [HopRecorder] = []
  private var requestBody: (any BodyGatherer)?
  private var readBytes = 0
  private var hasReadRequest = false

  init(_ request: Request, _ parent: ParentContext, on environment: LoopEnvironment, _ options: TransferOptions) {
    transport = environment.transport
    self.options = options
    exchange = RecordedExchange(request)
    exchange.parent = parent
    exchange.time = environment.loop.wallClock
    if case .stream = request.body { exchange.isRequestStreamed = true }
  }

  /// The request body to go on with: one that comes once is gathered while it is read.
  func tapped(_ body: Body) -> Body {
    guard case .stream(let stream) = body else { return body }
    requestBody = transport.makeBodyGatherer(options)
    return .stream(
      stream.mapped { [self] maximum in
        let piece = try stream.read(maximum)
        take(piece)
        return piece
      })
  }

  private func take(_ piece: [UInt8]?) {
    guard let piece else {
      hasReadRequest = true
      return
    }
    do { try requestBody?.append(piece) } catch { requestBody = nil }
    readBytes += piece.count
    if let total = exchange.request.body.byteCount, readBytes >= total { hasReadRequest = true }
  }

  /// Stands between the transport and a transaction for one hop.
  func observe(_ observer: any TransferObserver) -> any TransferObserver {
    let hop = HopRecorder(observer, transport.makeBodyGatherer(options))
    hops.append(hop)
    return hop
  }

  /// Nobody wants the body of the hop under way.
  func willDiscard() { hops.last?.discard() }

  /// The hop under way has taken too long, and is cut for that.
  func willCut(_ error: TransportError) { hops.last?.cut(error) }

  /// All that was recorded, the transaction being over.
  func finish() -> RecordedExchange {
    exchange.hops = hops.map { $0.finish() }
    // They refer to the transaction, which refers to this.
    hops = []
    if exchange.isRequestStreamed {
      exchange.request.body = requestBody?.finish() ?? .empty
      exchange.isRequestWhole = hasReadRequest && requestBody != nil
      requestBody = nil
    }
    return exchange
  }
}

/// Hands everything on, and keeps what came.
private final class HopRecorder: TransferObserver {
  private let observer: any TransferObserver
  private var record = RecordedHop(wasIssued: false)
  private var gatherer: (any BodyGatherer)?
  private var hasPieces = false
  private var hasEnded = false
  private var isFinished = false
  private var cutError: TransportError?

  init(_ observer: any TransferObserver, _ gatherer: any BodyGatherer) {
    self.observer = observer
    self.gatherer = gatherer
  }

  func transferWillIssue(_ headers: inout HeaderFields) -> Bool {
    record.wasIssued = true
    return observer.transferWillIssue(&headers)
  }

  func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {
    observer.transferDidReceiveInformational(status, headers)
  }

  func transferDidReceiveHead(_ head: consuming Response) -> BodyDisposition {
    record.response = copy head
    return observer.transferDidReceiveHead(head)
  }

  func transferDidReceive(_ piece: [UInt8]) -> BodyProgress {
    if !isFinished {
      hasPieces = true
      do { try gatherer?.append(piece) } catch {
        gatherer = nil
        record.isBodyWhole = false
      }
    }
    return observer.transferDidReceive(piece)
  }

  func transferDidEnd(_ end: consuming TransferEnd) {
    if !isFinished {
      hasEnded = true
      record.error = end.error == nil ? nil : cutError ?? end.error
      if end.error != nil { record.isBodyWhole = false }
      if case .empty = end.body {} else { record.response?.body = end.body }
      record.response?.trailers = end.trailers
    }
    observer.transferDidEnd(end)
  }

  func discard() { record.isBodyWhole = record.response?.headers["content-length"] == "0" }

  func cut(_ error: TransportError) { cutError = error }

  func finish() -> RecordedHop {
    isFinished = true
    if !hasEnded {
      record.isBodyWhole = false
      record.error = cutError ?? TransportError(.cancelled, "the transaction ended before this transfer did")
    }
    if hasPieces, let gatherer { record.response?.body = gatherer.finish() }
    gatherer = nil
    return record
  }
}
