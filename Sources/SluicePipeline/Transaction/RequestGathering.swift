import SluiceMessages

/// Reads a body that the caller produces while it is sent, for a stage that wants to have the whole. Confined to the loop.
final class RequestGathering: LoopTimerTarget {
  /// What one turn of the loop reads, so that others have theirs.
  private static let bytesPerTurn = 1 << 20
  private static let pieceBytes = 65_536
  /// A producer that had nothing is asked again.
  private static let pause = Duration.milliseconds(1)

  private let transaction: Transaction
  private let stream: BodyStream
  private let gatherer: any BodyGatherer
  private let timer = LoopTimer()
  private var byteCount = 0

  init(_ transaction: Transaction, _ stream: BodyStream) {
    self.transaction = transaction
    self.stream = stream
    gatherer = transaction.environment.transport.makeRequestGatherer(transaction.pipeline.settings.transfer)
  }

  /// Reads what there is. The transaction goes on when that is all; nil as long as it waits.
  func read() -> Result<Body, TransportError>? {
    do {
      var turnBytes = 0
      while turnBytes < Self.bytesPerTurn {
        guard let piece = try stream.read(Self.pieceBytes) else { return .success(try end()) }
        if piece.isEmpty { break }
        try append(piece)
        turnBytes += piece.count
      }
      transaction.loop.arm(timer, at: transaction.loop.now + (turnBytes == 0 ? Self.pause : .zero), for: self)
      return nil
    } catch let error as TransportError {
      return .failure(error)
    } catch {
      return .failure(
        TransportError(.bodyFile, "the request body could not be produced: \(error)", isBeforeSending: true))
    }
  }

  private func append(_ piece: [UInt8]) throws(TransportError) {
    byteCount += piece.count
    if let announced = stream.byteCount, byteCount > announced {
      throw TransportError(
        .bodyFile, "the request body is longer than the \(announced) bytes it announced", isBeforeSending: true)
    }
    try gatherer.append(piece)
  }

  private func end() throws(TransportError) -> Body {
    if let announced = stream.byteCount, byteCount < announced {
      throw TransportError(
        .bodyFile, "the request body ended after \(byteCount) of \(announced) bytes", isBeforeSending: true)
    }
    return gatherer.finish()
  }

  func timerDidFire(_ timer: LoopTimer) {
    // It may have been cancelled meanwhile.
    guard !transaction.machine.isDone, let result = read() else { return }
    transaction.run(transaction.take(result))
  }
}

extension Transaction {
  /// The body for stages that want to have the whole of it, where the caller streams it.
  ///
  /// - Returns: nil where it has to be waited for.
  func gatherRequestBody() -> TransactionMachine.Event? {
    guard case .stream(let stream) = exchange.nativeRequest.body, pipeline.wantsRequestBody(of: exchange.nativeRequest)
    else { return .done }
    return RequestGathering(self, stream).read().map { take($0) }
  }

  /// What was gathered is in place of what can be produced once, in each attempt.
  fileprivate func take(_ result: Result<Body, TransportError>) -> TransactionMachine.Event {
    switch result {
    case .success(let body):
      gatheredBody = body
      machine.bodyBecameReplayable()
      exchange.nativeRequest.body = body
      exchange.requestDocument = nil
      return .done
    case .failure(let error): return .abort(TransactionError(error))
    }
  }
}
