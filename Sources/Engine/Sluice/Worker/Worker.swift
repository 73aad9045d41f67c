import SluiceAssembly
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport
import SluiceTraceContext
import Synchronization

/// One event loop and its state.
///
/// `Sendable` is unchecked because of `pipeline` and `draw`. It is safe, because they are read and replaced only on the
/// loop's thread.
final class Worker: @unchecked Sendable {
  let loop: Loop
  let environment: LoopEnvironment
  /// The number of requests on their way from another thread to the loop.
  let submitted = Atomic<Int>(0)
  let submissions = SubmissionQueue()
  /// The answer that a drain waits for; nil without a drain. If another thread has delivered all results of a stuck
  /// loop, this answer ends the wait for that loop.
  let owedNothing = Locked<FirstAnswer<Bool>?>(nil)
  /// Whether a call of `beginSubmissions` waits on the loop.
  private let isBeginPosted = Atomic<Bool>(false)
  /// The pipeline for new transactions of this loop.
  var pipeline: Pipeline
  /// Draws the new transactions that run on a canary instead, or are samples for its shadow; nil without a canary.
  // Unchecked, because the run-time check would cost as much as the draw. Nothing else is called during an access.
  @exclusivity(unchecked) var draw: ArmDraw?

  /// - Parameter loop: used by this worker only.
  package init(loop: Loop, transport: any Transport, pipeline: Pipeline) {
    self.loop = loop
    environment = LoopEnvironment(loop: loop, transport: transport)
    self.pipeline = pipeline
  }
}

extension Worker {
  /// Whether the watchdog has found that the loop is stuck. New requests then go to other loops.
  var isStuck: Bool { environment.isStuck.load(ordering: .relaxed) }

  /// How long the loop may begin requests before it must return to its other work. A limit for the number of requests
  /// would not limit the time: if a stage answers a request, the whole transaction runs when it begins.
  private static let burstNanoseconds: UInt64 = 2_000_000

  /// Begins a transaction. [loop]
  func begin(
    _ request: consuming Request, _ parent: ParentContext, _ sink: (any BodySink)?, _ checks: ResponseChecks?,
    _ delegate: StageBinding?, _ cancellation: Cancellation?,
    _ completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    if draw?.draws(request) == true {
      return beginDrawn(request, parent, sink, checks, delegate, cancellation, completion)
    }
    begin(request, through: pipeline, parent, sink, checks, delegate, cancellation, completion)
  }

  @inline(__always)
  private func begin(
    _ request: consuming Request, through pipeline: Pipeline, _ parent: ParentContext, _ sink: (any BodySink)?,
    _ checks: ResponseChecks?, _ delegate: StageBinding?, _ cancellation: Cancellation?,
    _ completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    Transaction.begin(
      request, on: environment, through: pipeline, parent: parent, sink: sink, checks: checks, delegate: delegate,
      whenKnown: cancellation.map { cancellation in { cancellation.adopt($0) } }, completion: completion)
  }

  /// Begins a transaction that was drawn: it runs on a canary, or is a sample. It is a separate function, because a
  /// request that can be changed here would be copied for every transaction.
  @inline(never)
  private func beginDrawn(
    _ request: consuming Request, _ parent: ParentContext, _ sink: (any BodySink)?, _ checks: ResponseChecks?,
    _ delegate: StageBinding?, _ cancellation: Cancellation?,
    _ completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    var (pipeline, completion) = (pipeline, completion)
    switch draw?.purpose {
    case nil: break
    case .canary(let canary): pipeline = canary
    case .sample(let begin, let end):
      guard begin() else { break }
      let (isWanted, complete) = (request.wantsRecording, completion)
      if !isWanted { (request.wantsRecording, request.isSample) = (true, true) }
      completion = { result in
        let sample = isWanted ? result.recording?.sample : result.recording
        var result = result
        if !isWanted { result.removeRecording() }
        complete(result)
        end(sample)
      }
    }
    begin(request, through: pipeline, parent, sink, checks, delegate, cancellation, completion)
  }

  /// The number of transactions without a result, whether they have begun or not. Can be called on any thread. The
  /// number can be slightly out of date.
  var owedCount: Int { environment.owedCount + submitted.load(ordering: .relaxed) }

  /// Takes a request that was counted in ``submitted``. Can be called on any thread.
  func enqueue(_ submission: Submission) {
    if submissions.push(submission) { beginSubmissionsLater() }
  }

  /// Posts a call of `beginSubmissions`, unless one is already waiting. Without this check, each request that finds the
  /// queue empty would post a call, and each call could begin requests for its full time. The loop would then do
  /// nothing else.
  private func beginSubmissionsLater() {
    guard !isBeginPosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
    loop.post { [self] in beginSubmissions() }
  }

  /// Takes and begins the requests one at a time. If a stage does not return, the requests that are still in the queue
  /// can therefore be moved to another loop.
  private func beginSubmissions() {
    // The flag is reset before the queue is read. If a request still finds the flag set, it is already in the queue and
    // is taken below.
    _ = isBeginPosted.exchange(false, ordering: .acquiringAndReleasing)
    let end = loop.now.nanoseconds &+ Self.burstNanoseconds
    repeat {
      guard let submission = submissions.takeFirst() else { return }
      // The count is reduced before the request begins. Otherwise the request would be counted twice. The check of a
      // drain runs on this loop too, so it never sees the state between these two lines.
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

  /// The next worker whose loop makes progress; nil if all loops are stuck.
  package static func moving(_ workers: [Worker], after turn: Int) -> Worker? {
    for step in 1..<max(workers.count, 2) {
      let worker = workers[(turn % workers.count + step) % workers.count]
      if !worker.isStuck { return worker }
    }
    return nil
  }
}
