import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// A request on its way to a loop.
final class Submission: Sendable {
  let request: Request
  let parent: ParentContext
  let sink: (any BodySink)?
  let checks: ResponseChecks?
  let delegate: StageBinding?
  let cancellation: Cancellation?
  let completion: @Sendable (TransactionResult) -> Void
  /// The next submission in the queue. The queue owns the reference. It is marked unsafe because the compiler cannot
  /// see that only one thread at a time uses it: the pushing thread until the push, and then the thread that has taken
  /// the list.
  nonisolated(unsafe) var next: Unmanaged<Submission>?

  init(
    _ request: consuming Request, _ parent: ParentContext, _ sink: (any BodySink)?, _ checks: ResponseChecks?,
    _ delegate: StageBinding?, _ cancellation: Cancellation?,
    _ completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    self.request = request
    self.parent = parent
    self.sink = sink
    self.checks = checks
    self.delegate = delegate
    self.cancellation = cancellation
    self.completion = completion
  }

  /// Begins the transaction. [loop]
  func begin(on worker: Worker) {
    worker.begin(request, parent, sink, checks, delegate, cancellation, completion)
  }

  /// Ends a transaction that never began.
  func refuse(_ error: TransactionError) { completion(Self.refused(request, error)) }

  static func refused(_ request: Request, _ error: TransactionError) -> TransactionResult {
    var random = SystemRandomNumberGenerator()
    return TransactionResult(refused: TransactionID(using: &random), request, error)
  }
}
