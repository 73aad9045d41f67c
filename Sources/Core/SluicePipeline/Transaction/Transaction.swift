package import SluiceMessages
package import SluiceTraceContext

/// Performs the decisions of the ``TransactionMachine``: calls stages, starts transfers, sets the timer, calls tracers.
///
/// Unchecked because it is confined to the loop on which it began; ``cancel()`` and ``resumeReceiving()`` post to that
/// loop. It lives until it completes, which it does exactly once. It is also the exchange that its stages get; only a
/// blocking stage gets a copy, which is an exchange without a transaction. So the pipeline allocates two objects for a
/// request: the transaction, and the ``ResultRecord``, which outlives it.
package final class Transaction: Exchange, @unchecked Sendable {
  package typealias Completion = (TransactionResult) -> Void

  package let pipeline: Pipeline
  let environment: LoopEnvironment
  // This is copied from the pipeline, because reading it through the pipeline would retain and release the objects in
  // between.
  let metrics: PipelineMetrics
  /// The result for the completion; contains the original request.
  let result: ResultRecord
  var machine: TransactionMachine
  /// Options that apply to this request alone.
  let options: SharedValue<RequestOptions>?
  let sink: (any BodySink)?
  let checks: ResponseChecks?
  /// Records the stages' actions and the answers from the wire, if the request wants this. The code for it is in
  /// separate functions, so that the functions that every transaction runs stay small.
  var notes: TransactionNotes?
  /// The transaction's own delegate, asked about redirects and challenges before the engine's; held until the end.
  private(set) var delegate: StageBinding?
  /// The object that is told when the transaction ends.
  package var holder: (any TransactionHolder)?
  private var completion: Finish?
  /// The transaction's timer, and the slot that decides which thread gives the result.
  let seat: TransactionSeat
  private var answerNumber: UInt64 = 0

  // The current transfer, and the head that it is delivering.
  var transfer: (any Transfer)?
  var isAnsweringHead = false
  /// Whether a stage broke a rule or missed its deadline.
  var hadStageFault = false
  var disposition = BodyDisposition.hold
  /// The hop whose `didEndHop` was not reported yet.
  var openHop = OpenHop.none
  /// The passages of the bodies that are flowing; nil if none is.
  var requestPassage: BodyPassage?
  var responsePassage: BodyPassage?

  var thisAttempt = Attempt()
  var thisHop = Hop()
  var cursor = Cursor()
  var deadlines = Deadlines()
  /// State that few transactions have; nil until it is needed.
  var rareState: RareState?
  /// The number of events so far, including events that no tracer got.
  var eventCount = 0
  /// The last reading of the clock in this run of the machine. A stage begins at the time at which the previous stage
  /// ended, and events that follow from one another have the same time.
  var clock: Instant?

  /// What is known about one attempt. The next attempt begins with a new value.
  struct Attempt {
    /// Whether the connection of the previous attempt was dead or did not answer: other kept connections may be dead
    /// too.
    var usesFreshConnection = false
    /// The position in the list of request stages: of the stages before it, those that see pieces have already seen the
    /// body.
    var requestPassedTo = 0
    /// Whether every response stage has seen the response and its body; only then can the caller get all of the body.
    var hasPassedResponseStages = false
    /// Whether a request of this attempt may have reached a server and must not be sent twice.
    var hasSentUnrepeatable = false
  }

  /// What is known about one hop. The next hop, and each attempt, begins with a new value.
  struct Hop {
    /// The status of the server's answer, without changes by stages; 0 before the answer.
    var wireStatus = 0
    /// The status in the hop's `didReceive`; 0 before this event.
    var receivedStatus = 0
    /// The position in the list of response stages: of the stages before it, those that see pieces have already seen
    /// the body.
    var responsePassedTo = 0
  }

  /// The stage that is being called, or was suspended.
  struct Cursor {
    var place: StagePlace?
    var token: SuspensionToken?
    /// The place in the pipeline for which ``token`` was taken.
    var tokenPlace: StagePlace?
  }

  /// The function is in a struct, because Swift stores an optional function in a generic form. This form costs an
  /// allocation to store the function, another one to call it, and a copy of its argument.
  private struct Finish {
    let call: Completion
  }

  /// Begins a transaction on its loop.
  ///
  /// - Parameters:
  ///   - sink: takes the response body piece by piece; gets nothing if a payload is made from the body.
  ///   - checks: the checks of the response, which replace the pipeline's.
  ///   - whenKnown: called with the transaction before the first stage, because a stage may never return; from then on
  ///     the transaction can be cancelled.
  ///   - completion: called exactly once, on the loop, possibly before this returns.
  @discardableResult
  package static func begin(
    _ request: consuming Request, on environment: LoopEnvironment, through pipeline: Pipeline,
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
    options = request.sharedOptions
    metrics = pipeline.metrics[loop.index]
    self.checks = checks ?? pipeline.settings.checks
    self.sink = self.checks?.extract == nil ? sink : nil
    self.completion = Finish(call: completion)
    seat = environment.takeSeat()
    machine = TransactionMachine(
      plan: TransactionMachine.Plan(
        requestStages: pipeline.requestStages.count, responseStages: pipeline.responseStages.count,
        maximumAttempts: options?.value.maximumAttempts.map { max(1, $0) } ?? pipeline.settings.maximumAttempts,
        streamsBody: self.sink != nil,
        passesBody: pipeline.changesResponsePieces, isReplayable: request.body.isReplayable,
        retriesStatuses: options?.value.retry.map { !$0.statuses.isEmpty } ?? pipeline.retriesStatuses,
        retriesFailures: options?.value.retry?.concernsFailures ?? pipeline.retriesFailures))
    let id = TransactionID(using: &environment.loop.random)
    result = ResultRecord(id: id, copy request)
    result.snapshot = pipeline.generation
    super.init(
      loop: loop, id: id, request: request, started: now,
      deadline: now.advanced(byNanoseconds: limit), parent: parent,
      requestIDHeader: pipeline.settings.requestIDHeader)
    if result.originalRequest.wantsNotes { makeNotes() }
  }

  private func enter() {
    environment.enter(self, seat)
    answerNumber = seat.answer.open(for: self, until: deadline)
  }

  private func start() {
    pipeline.takeLease(on: loop.index)
    metrics.transactionDidBegin()
    metrics.countAttempt()
    isRunning = true
    deadlines.attempt = started.advanced(byNanoseconds: attemptNanoseconds)
    armTimer()
    clock = started
    perform(machine.begin())
  }

  /// Ends the transaction as cancelled, unless it has ended. May be called on any thread.
  package func cancel() {
    let error = TransactionError(code: .cancelled, message: "the caller cancelled the transaction")
    seat.answer.cancel(answerNumber)
    loop.post { self.run(.abort(error)) }
  }

  /// Ends the transaction with an error of the caller, unless it has ended. May be called on any thread.
  package func fail(_ error: TransactionError) { loop.post { self.run(.abort(error)) } }

  /// Continues after the sink has paused. May be called on any thread.
  package func resumeReceiving() {
    loop.post { self.responsePassage?.receiverResumed() }
  }

  var timer: LoopTimer { seat.timer }

  var current: StageBinding? { cursor.place.map { stage(at: $0) } }

  func stage(at place: StagePlace) -> StageBinding {
    place.phase == .hop ? hopStage(place.index) : pipeline.stage(at: place)
  }

  var calledStageName: String? {
    (callingPassage ?? openPassages.first { $0.isSuspended })?.stageName ?? current?.name
  }

  /// Whether a call of a stage is suspended.
  var isSuspended: Bool { cursor.token != nil || openPassages.contains(where: \.isSuspended) }

  /// Ends the transaction: releases everything, and then reports the result.
  func finish(_ failure: TransactionError?) {
    // Runs after the result was reported. From then on, the objects that the pipeline keeps alive can end.
    defer { pipeline.giveBackLease(on: loop.index) }
    withdrawTokens()
    if notes != nil { finishNotes() }
    if machine.isOnWire, let transfer {
      result.timings = transfer.timings
      endedConnection = transfer.connection
      if isObserved { tellHopEnd(result.timings ?? TransferTimings(), endedConnection, failure) }
      transfer.cancel()
    }
    // The question is ended only after the transfer was cancelled, so that the transport asks no further question.
    handshakeQuestion?.end()
    transfer = nil
    let error = failure ?? settleLastForms()
    if error != nil { withholdBody() }
    if openHop != .none { emitHopEnd(error) }
    if spans != nil { endSpans() }
    let now = now()
    let outcome = TransactionOutcome(error)
    let nanoseconds = now.nanoseconds(since: started)
    metrics.transactionDidComplete(
      outcome.outcomeClass, status: responseStatus, hadStageFault: hadStageFault, nanoseconds: nanoseconds)
    emitCompletion(outcome, error, nanoseconds: nanoseconds, at: now)
    attachments.removeAll()
    isRunning = false
    delegate = nil
    holder?.transactionDidEnd()
    holder = nil
    let isAnswered = !seat.answer.close(answerNumber)
    environment.leave(seat, isAnswered: isAnswered)
    // Another thread has given the result while this loop was blocked.
    guard !isAnswered else { return environment.countStalled(-1) }
    guard let completion = completion.take() else { return }
    result.givenID = takeGivenRequestID()
    // Moved out of the ending transaction, not copied.
    swap(&result.response, &responseForms.native)
    result.attributes = attributes
    result.error = error
    if result.notes != nil { noteOutcome() }
    result.attempts = attempt + 1
    forgetIssued()
    result.duration = Duration(nanoseconds: nanoseconds)
    result.explanation = explanation.take()
    completion.call(TransactionResult(result))
  }

  /// Takes the completion, for the thread that has taken the slot.
  func takeCompletion() -> Completion? { completion.take()?.call }

  /// If a transaction fails, its caller does not get a body that a later stage could have changed.
  private func withholdBody() {
    // The stream was not read, and will not be read.
    if machine.streamsOwnBody, hasStreamedResponse { setResponseBody(.empty) }
    guard !thisAttempt.hasPassedResponseStages, !pipeline.responseStages.isEmpty, responseForms.native != nil else {
      return
    }
    responseForms.native?.body = .empty
    responseForms.native?.trailers = HeaderFields()
  }

  private func settleLastForms() -> TransactionError? {
    do {
      try settleResponse()
      return nil
    } catch { return error }
  }
}
