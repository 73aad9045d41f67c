import SluiceMessages
import SluicePipeline

/// One call-out. It ends once: when its exchange has ended or when it is cancelled, whichever comes first.
///
/// Unchecked because it is confined to its loop.
final class CallOutTransfer: Transfer, @unchecked Sendable {
  private let loop: any EventLoop
  /// Nil after the end.
  private var observer: (any TransferObserver)?
  private var exchange: ProgramExchange?

  init(_ loop: any EventLoop, _ observer: any TransferObserver) {
    self.loop = loop
    self.observer = observer
  }

  func begin(_ exchange: ProgramExchange, _ service: CallOutService) {
    var none = HeaderFields()
    guard let observer, observer.transferWillIssue(&none) else { return end(.failure(Self.cancelled)) }
    self.exchange = exchange
    service.noteUse()
    do throws(CallOutThreads.Refusal) {
      try service.threads.submit(
        CallOutThreads.Job(exchange: exchange) { [self] exchanged in
          let outcome = exchanged.outcome()
          loop.post { [self] in end(outcome) }
        })
    } catch { end(.failure(Self.error(error))) }
  }

  /// Ends the call-out. The thread that makes its exchange can stay in libcurl a moment longer.
  func cancel() {
    exchange?.stop()
    loop.post { [self] in end(.failure(Self.cancelled)) }
  }

  func end(_ outcome: Result<Response, TransportError>) {
    guard let observer else { return }
    self.observer = nil
    exchange = nil
    switch outcome {
    case .failure(let error): observer.transferDidEnd(TransferEnd(error: error))
    case .success(var response):
      let body = response.body
      response.body = .empty
      _ = observer.transferDidReceiveHead(response)
      observer.transferDidEnd(TransferEnd(body: body))
    }
  }

  private static let cancelled = TransportError(.cancelled, "the call-out was cancelled")

  private static func error(_ refusal: CallOutThreads.Refusal) -> TransportError {
    switch refusal {
    case .tooMany: TransportError(.transport, "too many call-outs are waiting", isBeforeSending: true)
    case .noThread: TransportError(.transport, "no thread could be started for the call-out", isBeforeSending: true)
    case .closed: TransportError(.cancelled, "the process is ending", isBeforeSending: true)
    }
  }

  func proceed(_ disposition: BodyDisposition) {}
  func resumeReceiving() {}
  func resumeSending() {}
}
