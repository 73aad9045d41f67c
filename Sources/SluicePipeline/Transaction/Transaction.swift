package import SluiceMessages
import SluiceMetrics
package import SluiceTraceContext

/// Performs what the ``TransactionMachine`` decides: calls stages, starts transfers, sets the timer, tells the tracers.
///
/// Confined to the loop that took it, and unchecked for that reason; ``cancel()`` and ``resumeReceiving()`` post to it. It
/// lives until it completes, which it does exactly once.
package final class Transaction: @unchecked Sendable {
  package typealias Completion = (TransactionResult) -> Void

  let pipeline: Pipeline
  let environment: LoopEnvironment
  // Out of the pipeline and the environment: reaching through these retains and releases what lies between.
  let loop: any EventLoop
  let metrics: PipelineMetrics
  let exchange: Exchange
  /// What the completion will be given; holds the original request.
  let result: ResultRecord
  var machine: TransactionMachine
  let sink: (any BodySink)?
  let checks: ResponseChecks?
  /// What the stages do, and what the wire answers, where the request wants to have it written down. What that takes is
  /// in functions of their own, so that those which every transaction runs through stay small.
  var notes: TransactionNotes?
  /// Asked about redirects and challenges before the engine's own; held until the transaction ends.
  private(set) var delegate: StageBinding?
  private var completion: Finish?
  private var place = 0
  /// Decides which thread gives the result.
  let answer: AnswerSlot
  private var answerNumber: UInt64 = 0

  // The hop under way.
  var transfer: (any Transfer)?
  /// The connection of the hop, once its transfer has ended.
  var endedConnection: ConnectionFacts?
  var isAnsweringHead = false
  var disposition = BodyDisposition.hold
  /// Why a stage or a sink ended the hop.
  var hopFailure: TransactionError?
  /// The status that the server answered with in this hop, whatever stages make of it; 0 before it has.
  var wireStatus = 0
  /// The hop whose `didEndHop` has not been told yet.
  var openHop = HopTrace.none
  /// The bodies that are flowing, and the one whose stage is being called.
  var requestPassage: BodyPassage?
  var responsePassage: BodyPassage?
  var callingPassage: BodyPassage?
  /// The position in each list up to which the stages that see pieces have seen the body of this attempt.
  var requestPassedTo = 0
  var responsePassedTo = 0
  /// Whether every response stage has seen the response and its body; then nothing in it is to be hidden from the caller.
  var hasPassedResponseStages = false
  /// Whether a request of this attempt may have reached a server that must not get it twice.
  var hasSentUnrepeatable = false
  /// Why the policy makes another attempt; nil where a stage asked for it.
  var retryReason: TransactionError?
  /// Whether the attempt before this one met a kept connection that was dead: others may be dead as well.
  var usesFreshConnection = false
  /// Why the policy wanted another attempt and makes none.
  var retryNote: String?
  /// The body of the request where stages change its pieces, for a hop that needs it again.
  var unroutedBody: Body?
  /// The body that the caller streamed, where a stage wanted to have the whole.
  var gatheredBody: Body?
  /// The hops of this attempt so far; nil until there is a redirect or a challenge.
  var hops: HopState?
  /// How many events there have been, whoever was told them.
  var eventCount = 0
  /// The status that the `didReceive` of the hop told; 0 before it.
  var receivedStatus = 0

  // The stage that is being called, or was suspended.
  var currentPlace: StagePlace?
  var token: SuspensionToken?
  /// Who took the token.
  var tokenPlace: StagePlace?
  /// The clock as this run of the machine last read it: when one stage ends the next begins, and events that lead to one
  /// another have one time.
  var clock: Instant?

  // The deadlines that share one timer.
  let timer: LoopTimer
  var attemptDeadline = Instant.distantFuture
  /// Nanoseconds that the attempt has left while its clock is stopped.
  var attemptRest: UInt64?
  var stageDeadline = Instant.distantFuture
  var retryAt = Instant.distantFuture

  /// A function of its own in a struct: an optional function is kept in a generic form, with an allocation on the way in, one
  /// on the way out, and a copy of its argument.
  private struct Finish {
    let call: Completion
  }

  /// Begins a transaction on its loop.
  ///
  /// - Parameters:
  ///   - sink: takes the response body piece by piece; gets nothing where a payload is made of the body.
  ///   - checks: what the response is held against, in place of the pipeline's.
  ///   - whenKnown: called with the transaction before the first stage, which may not return; from then on it can be
  ///     cancelled.
  ///   - completion: called exactly once, on the loop, possibly before this returns.
  @discardableResult
  package static func begin(
    _ request: Request, on environment: LoopEnvironment, through pipeline: Pipeline,
    parent: ParentContext = ParentContext(), sink: (any BodySink)? = nil, checks: ResponseChecks? = nil,
    delegate: StageBinding? = nil, whenKnown: ((Transaction) -> Void)? = nil, completion: @escaping Completion
  ) -> Transaction {
    let transaction = Transaction(request, environment, pipeline, parent, sink, checks, completion)
    transaction.delegate = delegate
    transaction.enter()
    whenKnown?(transaction)
    transaction.start()
    return transaction
  }

  @inline(__always)
  private init(
    _ request: consuming Request, _ environment: LoopEnvironment, _ pipeline: Pipeline, _ parent: ParentContext,
    _ sink: (any BodySink)?, _ checks: ResponseChecks?, _ completion: @escaping Completion
  ) {
    let loop = environment.loop
    let now = loop.now
    let limit = request.timeout?.nanoseconds ?? pipeline.deadlineNanoseconds
    self.pipeline = pipeline
    self.environment = environment
    self.loop = loop
    metrics = pipeline.metrics[loop.index]
    timer = environment.takeTimer()
    self.checks = checks ?? pipeline.settings.checks
    self.sink = self.checks?.extract == nil ? sink : nil
    self.completion = Finish(call: completion)
    answer = environment.answers.vacantSlot()
    machine = TransactionMachine(
      plan: TransactionMachine.Plan(
        requestStages: pipeline.requestStages.count, responseStages: pipeline.responseStages.count,
        maximumAttempts: pipeline.settings.maximumAttempts, streamsBody: self.sink != nil,
        passesBody: pipeline.changesResponsePieces, isReplayable: request.body.isReplayable,
        retriesStatuses: pipeline.retriesStatuses, retriesFailures: pipeline.retriesFailures))
    let id = TransactionID(using: &environment.loop.random)
    result = ResultRecord(id: id, copy request)
    result.snapshot = pipeline.generation
    exchange = Exchange(
      loop: loop, id: id, request: request, started: now,
      deadline: now.advanced(byNanoseconds: limit), parent: parent,
      requestIDHeader: pipeline.settings.requestIDHeader)
    if result.originalRequest.wantsNotes { makeNotes() }
  }

  private func enter() {
    place = environment.enter(self)
    answerNumber = answer.open(for: self, until: exchange.deadline)
  }

  private func start() {
    pipeline.takeLease(on: loop.index)
    metrics.transactionDidBegin()
    metrics.countAttempt()
    exchange.transaction = self
    attemptDeadline = exchange.started.advanced(byNanoseconds: pipeline.attemptTimeoutNanoseconds)
    armTimer()
    run(.begin, at: exchange.started)
  }

  /// Ends the transaction as cancelled, unless it has ended. From any thread.
  package func cancel() {
    let error = TransactionError(code: .cancelled, message: "the caller cancelled the transaction")
    answer.cancel(answerNumber)
    loop.post { self.run(.abort(error)) }
  }

  /// Ends the transaction with an error of the caller's, unless it has ended. From any thread.
  package func fail(_ error: TransactionError) { loop.post { self.run(.abort(error)) } }

  /// Goes on after the sink paused. From any thread.
  package func resumeReceiving() {
    loop.post { self.responsePassage?.receiverResumed() }
  }

  var current: StageBinding? { currentPlace.map { stage(at: $0) } }

  func stage(at place: StagePlace) -> StageBinding {
    place.phase == .hop ? hopStage(place.index) : pipeline.stage(at: place)
  }

  var currentStageName: String? {
    (callingPassage ?? openPassages.first { $0.isSuspended })?.stageName ?? current?.name
  }

  /// Whether a call of a stage is suspended.
  var isSuspended: Bool { token != nil || openPassages.contains(where: \.isSuspended) }

  /// The end: lets go of everything, then tells.
  func finish(_ failure: TransactionError?) {
    // When all is told: what serves this pipeline may end then.
    defer { pipeline.giveBackLease(on: loop.index) }
    loop.disarm(timer)
    environment.giveBack(timer)
    withdrawTokens()
    if notes != nil { finishNotes() }
    if machine.isOnWire, let transfer {
      result.timings = transfer.timings
      endedConnection = transfer.connection
      transfer.cancel()
    }
    transfer = nil
    let error = failure ?? settleLastForms()
    if error != nil { withholdBody() }
    if openHop != .none { emitHopEnd(error) }
    if exchange.spans != nil { endSpans() }
    let now = now()
    let outcome = TransactionOutcome(error)
    let duration = now.duration(since: exchange.started)
    metrics.transactionDidComplete(
      outcome.outcomeClass, status: exchange.responseStatus,
      nanoseconds: now.nanoseconds(since: exchange.started))
    emitCompletion(outcome, error, duration, at: now)
    exchange.attachments.removeAll()
    exchange.transaction = nil
    delegate = nil
    environment.leave(place)
    // Another thread has given the result, while this loop did not move.
    guard answer.close(answerNumber) else { return environment.countStalled(-1) }
    environment.answers.giveBack(answer)
    guard let completion = completion.take() else { return }
    result.requestID = exchange.requestID
    // Moved out of what ends here, not copied.
    result.response = exchange.nativeResponse.take()
    result.attributes = exchange.attributes
    result.error = error
    result.attempts = exchange.attempt + 1
    result.duration = duration
    result.explanation = exchange.explanation.take()
    completion.call(TransactionResult(result))
  }

  /// Takes the completion, for the thread that has taken the slot.
  func takeCompletion() -> Completion? { completion.take()?.call }

  /// A transaction that fails gives its caller no body that a stage might still have changed.
  private func withholdBody() {
    // Nobody has read it, and nobody will.
    if machine.streamsOwnBody, exchange.hasStreamedResponse { exchange.setResponseBody(.empty) }
    guard !hasPassedResponseStages, !pipeline.responseStages.isEmpty, exchange.nativeResponse != nil else { return }
    exchange.nativeResponse?.body = .empty
    exchange.nativeResponse?.trailers = HeaderFields()
  }

  private func settleLastForms() -> TransactionError? {
    do {
      try exchange.settleResponse()
      return nil
    } catch { return error }
  }
}
