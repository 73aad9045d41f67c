import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluicePluginImage
import SluiceSupport
import SluiceTraceContext
import Synchronization

/// One event loop and its state.
///
/// Unchecked because of `pipeline`, which is read and replaced only on the loop's thread.
final class Worker: @unchecked Sendable {
  let loop: Loop
  let environment: LoopEnvironment
  /// The number of requests on their way from another thread to the loop.
  let submitted = Atomic<Int>(0)
  let submissions = SubmissionQueue()
  /// Lets a drain stop waiting for a stuck loop after another thread has delivered all of the loop's results.
  let owedNothing = Locked<FirstAnswer<Bool>?>(nil)
  /// Whether the watchdog has found that the loop stands still; new requests then go to other loops.
  let isStuck = Atomic<Bool>(false)
  /// Whether a call of `beginSubmissions` waits on the loop.
  private let isBeginPosted = Atomic<Bool>(false)
  /// The pipeline for new transactions of this loop.
  var pipeline: Pipeline

  /// - Parameter loop: used by this worker only.
  package init(loop: Loop, transport: any Transport, pipeline: Pipeline) {
    self.loop = loop
    environment = LoopEnvironment(loop: loop, transport: transport)
    self.pipeline = pipeline
  }
}

extension Worker {
  /// How long the loop begins requests before it returns to its other work. A limit for the number of requests would
  /// not bound the time, because a request that a stage answers runs to its end when it begins.
  private static let burstNanoseconds: UInt64 = 2_000_000

  /// Begins a transaction. [loop]
  func begin(
    _ request: consuming Request, _ parent: ParentContext, _ sink: (any BodySink)?, _ checks: ResponseChecks?,
    _ delegate: StageBinding?, _ cancellation: Cancellation?,
    _ completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    Transaction.begin(
      request, on: environment, through: pipeline, parent: parent, sink: sink, checks: checks, delegate: delegate,
      whenKnown: cancellation.map { cancellation in { cancellation.adopt($0) } }, completion: completion)
  }

  /// Transactions without a result, begun or not. From any thread; the number can be slightly out of date.
  var owedCount: Int { environment.owedCount + submitted.load(ordering: .relaxed) }

  /// Takes a request that was counted in ``submitted``. From any thread.
  func enqueue(_ submission: Submission) {
    if submissions.push(submission) { beginSubmissionsLater() }
  }

  /// At most one call of `beginSubmissions` waits. If each request that finds the queue empty posted a call, and each
  /// call began requests for its whole time, the loop would do nothing else.
  private func beginSubmissionsLater() {
    guard !isBeginPosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
    loop.post { [self] in beginSubmissions() }
  }

  /// One at a time, so that requests which wait behind a stage that does not return can still be moved to another loop.
  private func beginSubmissions() {
    // Reset before the queue is read: a request that still finds the flag set is seen below.
    _ = isBeginPosted.exchange(false, ordering: .acquiringAndReleasing)
    let end = loop.now.nanoseconds &+ Self.burstNanoseconds
    repeat {
      guard let submission = submissions.takeFirst() else { return }
      // Subtracted first, because the request would otherwise be counted twice while it begins. A drain checks on this
      // loop, so it never sees the state in between.
      submitted.wrappingSubtract(1, ordering: .sequentiallyConsistent)
      submission.begin(on: self)
    } while loop.now.nanoseconds < end
    beginSubmissionsLater()
  }

  /// Takes the requests that the loop has not begun.
  func takeSubmissions() -> [Submission] {
    let taken = submissions.takeAll()
    submitted.wrappingSubtract(taken.count, ordering: .sequentiallyConsistent)
    return taken
  }

  /// The next loop that makes progress; nil if none does.
  package static func moving(_ workers: [Worker], after turn: Int) -> Worker? {
    for step in 1..<max(workers.count, 2) {
      let worker = workers[(turn % workers.count + step) % workers.count]
      if !worker.isStuck.load(ordering: .relaxed) { return worker }
    }
    return nil
  }
}
