import SluiceLocks
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceTraceContext
import SluiceTransport
import Synchronization

/// One event loop with what belongs to it.
///
/// Unchecked because of `pipeline`, which is read and replaced on the loop's thread only.
final class Worker: @unchecked Sendable {
  let loop: Loop
  let transport: CurlTransport
  let environment: LoopEnvironment
  /// Requests on their way from another thread to the loop.
  let submitted = Atomic<Int>(0)
  let submissions = SubmissionQueue()
  /// A drain that need not wait for a loop which stands still, when all that it owes was given by somebody else.
  let owedNothing = Locked<FirstAnswer<Bool>?>(nil)
  /// The watchdog sees that the loop does not move: new requests go elsewhere.
  let isStuck = Atomic<Bool>(false)
  /// What new transactions of this loop run through.
  var pipeline: Pipeline

  init(index: Int, settings: TransportSettings, pipeline: Pipeline) throws(TransportError) {
    loop = try Loop(index: index)
    do { transport = try CurlTransport(loop: loop, settings: settings) } catch {
      loop.shutdown()
      throw error
    }
    environment = LoopEnvironment(loop: loop, transport: transport)
    self.pipeline = pipeline
  }
}

extension Worker {
  /// How many requests begin before the loop gets to its other work.
  private static let burst = 256

  /// Begins a transaction. [loop]
  func begin(
    _ request: Request, _ parent: ParentContext, _ sink: (any BodySink)?, _ checks: ResponseChecks?,
    _ delegate: StageBinding?, _ cancellation: Cancellation?,
    _ completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    Transaction.begin(
      request, on: environment, through: pipeline, parent: parent, sink: sink, checks: checks, delegate: delegate,
      whenKnown: cancellation.map { cancellation in { cancellation.adopt($0) } }, completion: completion)
  }

  /// Transactions that have no result, begun or not. From any thread; a moment old.
  var owedCount: Int { environment.owedCount + submitted.load(ordering: .relaxed) }

  /// Takes a request that was counted in ``submitted``. From any thread.
  func enqueue(_ submission: Submission) {
    if submissions.push(submission) { loop.post { [self] in beginSubmissions() } }
  }

  /// One at a time: what waits behind a stage that does not return can still be taken.
  private func beginSubmissions() {
    for _ in 0..<Self.burst {
      guard let submission = submissions.takeFirst() else { return }
      // First, or it would be counted twice while it begins. A drain looks on this loop, and so not in between.
      submitted.wrappingSubtract(1, ordering: .sequentiallyConsistent)
      submission.begin(on: self)
    }
    loop.post { [self] in beginSubmissions() }
  }

  /// Takes what the loop has not begun.
  func takeSubmissions() -> [Submission] {
    let taken = submissions.takeAll()
    submitted.wrappingSubtract(taken.count, ordering: .sequentiallyConsistent)
    return taken
  }
}
