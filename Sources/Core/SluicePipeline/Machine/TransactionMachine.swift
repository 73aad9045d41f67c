import SluiceMessages

/// The course of one transaction as pure decisions: it takes an event and says what to do next.
///
///     begin ─ request stages ─ send ─ issue ─ head ─ response stages ─ end ─ validate ─ complete
///        ▲         │ respond ──────────────────────────▲   │retry          │failure stages
///        └─────────┴── retry ◄─────────────────────────────┴───────────────┘
///
/// If no stage has decided, the retry policy is asked: about a status before the body is read, about a failure before
/// the transaction ends.
///
/// In every case ``Action/complete(_:)`` is returned exactly once; later events are answered with wait. When a hop is
/// given up for a retry, the machine first waits for the end of the hop, so that a late event of that hop is not taken
/// for an event of the next one.
///
/// Events that occur in every transaction have functions of their own, so that no event value has to be created.
struct TransactionMachine: Sendable {
  /// The facts about the pipeline that the machine needs, read when the transaction begins.
  struct Plan: Sendable {
    var requestStages: Int
    var responseStages: Int
    var maximumAttempts: Int
    /// Whether the caller takes the body piece by piece.
    var streamsBody: Bool
    /// Whether at least one response stage might want to see the pieces of the body.
    var passesBody = false
    var isReplayable: Bool
    /// Whether the retry policy decides about statuses, and whether it decides about failures.
    var retriesStatuses = false
    var retriesFailures = false

    var retriesByPolicy: Bool { retriesStatuses || retriesFailures }
  }

  enum Phase: Sendable, Equatable {
    case idle
    case starting
    case requestStage(Int)
    /// The request body is gathered for the stage that is called next.
    case passingRequestBody(Int)
    case configuring
    case connecting
    case waitingForHead
    case receiveNotice
    /// The head is a redirect or a challenge.
    case crossingNotice
    case crossingStage(Int)
    case redirectNotice
    case beginningHop
    /// A redirect or challenge is taken as the response, and the response stages want its body.
    case awaitingBody
    case responseStage(Int)
    /// The body passes through the stages that see its pieces, because the stage that is called next needs the whole
    /// body.
    case passingResponseBody(Int)
    case receivingBody
    /// The body passes through the stages that have not seen it.
    case passingRest
    case failureStage(Int)
    /// The retry policy is asked about this failure, or about the status if there is no failure.
    case considering(TransactionError?)
    case retryNotice(Duration)
    case waitingToRetry
    /// The server did not process the request, which is sent again after a pause.
    case resendNotice(Duration)
    case waitingToResend
    /// The hop is no longer needed. The next step waits until the hop has ended, so that its events are not mistaken
    /// for events of the next hop.
    case endingHop(Next)
    case validating
    case done
  }

  /// The next step after the end of a hop that is no longer needed.
  enum Next: Sendable, Equatable {
    case fail(TransactionError)
    /// Fail with this error, although the response has already gone through its stages.
    case breakOff(TransactionError)
    case retry(Duration)
    case hop
    /// Send the request with its body, which the ending hop did not have.
    case whole
  }

  private(set) var plan: Plan
  var phase = Phase.idle
  private(set) var attempt = 0
  /// Whether a transfer is under way, so that its end will be reported.
  var isOnWire = false
  /// The stage that gave the response in place of the server.
  private(set) var answeringStage: String?
  /// Why there is no response, for the failure stages.
  var failure: TransactionError?
  /// The redirect or challenge that is being decided about.
  var crossing: Crossing?
  /// Whether at least one response stage wants the body, so that all response stages wait for it. Decided when the head
  /// arrives.
  private(set) var wantsBody = false
  private(set) var streamsBody: Bool
  /// Whether a stage streams the body of the response.
  var streamsOwnBody = false
  /// How often the request was sent again because the server had not processed it.
  private(set) var resends = 0

  /// The maximum number of times that a request is sent again. After one more refusal the request fails.
  static let maximumResends = 10
  /// How often a request is sent again without a pause: a server that closes a connection usually accepts the request
  /// on the next connection.
  static let promptResends = 5
  /// The first pause. Each further pause is twice as long as the one before.
  private static let firstPause = Duration.milliseconds(10)

  init(plan: Plan) {
    self.plan = plan
    streamsBody = plan.streamsBody
  }

  enum Event: Sendable {
    case begin
    /// The called stage and all stages after it in the list have answered, and none of them has made a decision.
    case proceeded
    /// A stage has answered, at once or by resuming.
    case answered(Verdict, stage: String)
    /// An action that has no answer has been performed.
    case done
    case head
    /// The head is a redirect that can be followed, or a challenge that can be answered.
    case crossed(Crossing)
    case ended(TransactionError?)
    /// The hop has ended. The server has stated that it did not process the request, so the request can be sent again.
    case refused(TransactionError)
    /// The next stage must wait until the body is complete and has passed through the stages before it.
    case bodyWanted
    case bodyPassed
    case retryDelayPassed
    /// The policy makes another attempt.
    case retryGranted(Duration)
    /// The policy makes no other attempt. The value is the failure, with the policy's note.
    case retryDenied(TransactionError?)
    /// An attempt took too long.
    case attemptTimedOut(TransactionError)
    /// The whole transaction must end, because it was cancelled, its deadline has passed, or the engine shuts down.
    case abort(TransactionError)
  }

  enum Action: Sendable {
    case wait
    case emit(TransactionEventKind)
    case emitRetry(Duration)
    /// Report that the request of this hop is sent again after a pause.
    case emitResend(Duration, TransactionError)
    case callRequestStage(Int)
    case callResponseStage(Int)
    case callFailureStage(Int, TransactionError)
    /// Ask a stage about the redirect or challenge.
    case callHopStage(Int)
    /// Make the request of the next hop.
    case beginHop
    /// Start the transfer of this attempt.
    case send
    /// Begin another hop with the same request.
    case beginResend
    /// Set what happens to the response body. This follows the head, or ends a hold.
    case receive(BodyDisposition)
    /// End the transfer early; ``Event/ended`` follows.
    case cutTransfer
    /// Set the retry timer.
    case waitToRetry(Duration)
    /// Ask the retry policy.
    case considerRetry(TransactionError?)
    /// Take the original request again for the next attempt.
    case beginAttempt(Int)
    /// Gather the body, and pass it through the stages before a position. Stages that have already seen the body are
    /// left out. ``Event/bodyPassed`` follows.
    case passRequestBody(before: Int)
    case passResponseBody(before: Int)
    case validate
    /// The end. Stop everything that is still running.
    case complete(TransactionError?)
  }

  mutating func handle(_ event: Event) -> Action {
    if isDone { return .wait }
    switch event {
    case .begin: return begin()
    case .proceeded: return proceed()
    case .answered(let verdict, let stage): return answered(verdict, stage)
    case .done: return performed()
    case .head: return head()
    case .crossed(let crossing): return crossed(crossing)
    case .ended(let error): return ended(error)
    case .refused(let error): return refused(error)
    case .bodyWanted: return passBody()
    case .bodyPassed: return bodyPassed()
    case .retryDelayPassed: return delayPassed()
    case .retryGranted(let delay): return retry(after: delay)
    case .retryDenied(let failure): return retryDenied(failure)
    case .attemptTimedOut(let error): return timedOut(error)
    case .abort(let error): return complete(error)
    }
  }

  // The steps of every transaction also have functions of their own, which take less time than an event: ``begin()``,
  // ``performed()``, ``proceeded(to:)``, ``head()`` and ``ended(_:)``. Call them only before the transaction has ended.

  mutating func begin() -> Action {
    phase = .starting
    return .emit(.willExecute)
  }

  /// Has the same effect as ``reach(stage:)`` followed by ``Event/proceeded``.
  mutating func proceeded(to index: Int) -> Action {
    switch phase {
    case .requestStage: return requestStage(index + 1)
    case .responseStage: return responseStage(index + 1)
    default:
      reach(stage: index)
      return proceed()
    }
  }

  /// Tells the machine that the stages before this stage were called and decided nothing. The next answer comes from
  /// this stage.
  mutating func reach(stage index: Int) {
    switch phase {
    case .requestStage: phase = .requestStage(index)
    case .responseStage: phase = .responseStage(index)
    case .failureStage: phase = .failureStage(index)
    case .crossingStage: phase = .crossingStage(index)
    default: break
    }
  }

  /// Sets what the stages need from the response body that is about to arrive.
  mutating func decideBody(isWanted: Bool, streams: Bool) {
    wantsBody = isWanted
    streamsBody = streams
  }

  mutating func limitAttempts(to count: Int) {
    plan.maximumAttempts = max(attempt + 1, min(plan.maximumAttempts, count))
  }

  /// The body was gathered, and can be sent more than once.
  mutating func bodyBecameReplayable() { plan.isReplayable = true }

  /// A part of the body was read, and the body cannot be produced again.
  mutating func bodyWasRead() { plan.isReplayable = false }

  /// The error for which the transaction has ended the transfer early; nil if there was none.
  var causeOfCut: TransactionError? {
    switch phase {
    case .endingHop(.fail(let cause)), .endingHop(.breakOff(let cause)): cause
    default: nil
    }
  }

  /// Whether the transaction has ended.
  var isDone: Bool {
    if case .done = phase { true } else { false }
  }

  mutating func complete(_ error: TransactionError?) -> Action {
    phase = .done
    return .complete(error)
  }
}

// The next step after each phase.
extension TransactionMachine {
  /// Like ``Event/done``.
  mutating func performed() -> Action {
    switch phase {
    case .starting: return requestStage(0)
    case .configuring:
      phase = .connecting
      isOnWire = true
      return .send
    case .receiveNotice: return responseStage(0)
    case .retryNotice(let delay):
      phase = .waitingToRetry
      return .waitToRetry(delay)
    case .validating: return complete(nil)
    case .crossingNotice: return crossingWasNoticed()
    case .redirectNotice: return endHop()
    case .resendNotice(.zero): return beginResend()
    case .resendNotice(let delay):
      phase = .waitingToResend
      return .waitToRetry(delay)
    case .beginningHop:
      phase = .connecting
      isOnWire = true
      return .send
    default: return .wait
    }
  }

  private mutating func requestStage(_ index: Int) -> Action {
    guard index < plan.requestStages else {
      phase = .configuring
      return .emit(.didConfigure)
    }
    phase = .requestStage(index)
    return .callRequestStage(index)
  }

  mutating func responseStage(_ index: Int) -> Action {
    guard index < plan.responseStages else {
      guard isRetryOpen, plan.retriesStatuses else { return takeBody() }
      phase = .considering(nil)
      return .considerRetry(nil)
    }
    phase = .responseStage(index)
    return .callResponseStage(index)
  }

  private mutating func takeBody() -> Action {
    guard isOnWire else { return passRest() }
    phase = .receivingBody
    return .receive(streamsBody ? .stream : .collect)
  }

  /// Passes the body through the remaining stages, so that every stage sees it, no matter where the body comes from.
  private mutating func passRest() -> Action {
    guard plan.passesBody || streamsOwnBody else {
      phase = .validating
      return .validate
    }
    phase = .passingRest
    return .passResponseBody(before: plan.responseStages)
  }

  private mutating func passBody() -> Action {
    switch phase {
    case .requestStage(let index):
      phase = .passingRequestBody(index)
      return .passRequestBody(before: index)
    case .responseStage(let index):
      phase = .passingResponseBody(index)
      return .passResponseBody(before: index)
    default: return .wait
    }
  }

  private mutating func bodyPassed() -> Action {
    switch phase {
    case .passingRequestBody(let index): return requestStage(index)
    case .passingResponseBody(let index): return responseStage(index)
    case .passingRest:
      phase = .validating
      return .validate
    default: return .wait
    }
  }

  mutating func head() -> Action {
    guard case .connecting = phase else { return .wait }
    guard wantsBody else {
      phase = .receiveNotice
      return .emit(.didReceive)
    }
    phase = .waitingForHead
    return .receive(.collect)
  }

  mutating func ended(_ error: TransactionError?) -> Action {
    isOnWire = false
    switch phase {
    case .connecting, .waitingForHead:
      if let error { return failureStage(0, error) }
      phase = .receiveNotice
      return .emit(.didReceive)
    case .receivingBody:
      if let error { return breakOff(error) }
      return passRest()
    case .endingHop(.fail(let cause)): return failureStage(0, cause)
    case .endingHop(.breakOff(let cause)): return breakOff(cause)
    case .endingHop(.retry(let delay)): return emitRetry(delay)
    case .endingHop(.hop): return beginHop()
    case .endingHop(.whole): return sendWhole()
    case .awaitingBody:
      if let error { return failureStage(0, error) }
      return responseStage(0)
    case .crossingNotice, .crossingStage:
      // The head has already decided the next step, so a connection that died since then does not matter.
      failure = error
      return .wait
    case .receiveNotice, .responseStage:
      // A transfer on hold cannot end normally, so the connection has died while a stage was suspended.
      if let error { return complete(error) }
      return .wait
    default: return .wait
    }
  }

  /// This does not count as an attempt or against the retry budget: the server did not process the request.
  private mutating func refused(_ error: TransactionError) -> Action {
    guard case .connecting = phase else { return ended(error) }
    guard resends < Self.maximumResends else {
      var last = error
      last.message += "; the request was sent \(resends + 1) times, and never processed"
      return ended(last)
    }
    isOnWire = false
    let pause = resendPause
    resends += 1
    phase = .resendNotice(pause)
    return .emitResend(pause, error)
  }

  /// How long the request waits before it is sent again.
  private var resendPause: Duration {
    let longer = resends - Self.promptResends
    return longer < 0 ? .zero : Self.firstPause * (1 << longer)
  }

  private mutating func beginResend() -> Action {
    phase = .beginningHop
    return .beginResend
  }

  private mutating func delayPassed() -> Action {
    switch phase {
    case .waitingToRetry: return nextAttempt()
    case .waitingToResend: return beginResend()
    default: return .wait
    }
  }

  mutating func failureStage(_ index: Int, _ error: TransactionError) -> Action {
    failure = error
    guard index < plan.responseStages else { return fail(error) }
    phase = .failureStage(index)
    return .callFailureStage(index, error)
  }

  private mutating func timedOut(_ error: TransactionError) -> Action {
    if case .crossingStage = phase { return crossingTimedOut(error) }
    // The pause before a request is sent again is part of the attempt.
    if case .waitingToResend = phase { return failureStage(0, error) }
    guard isOnWire else { return .wait }
    switch phase {
    case .connecting, .waitingForHead, .awaitingBody, .endingHop(.hop), .endingHop(.whole):
      phase = .endingHop(.fail(error))
      return .cutTransfer
    case .endingHop: return .cutTransfer
    case .receivingBody:
      phase = .endingHop(.breakOff(error))
      return .cutTransfer
    default: return .wait
    }
  }
}

// The answers of stages.
extension TransactionMachine {
  private mutating func answered(_ verdict: Verdict, _ stage: String) -> Action {
    switch verdict {
    case .suspended, .gatherBody: return .wait
    case .fail(let failure), .fault(let failure): return complete(TransactionError(failure, stage: stage))
    case .retry(let delay): return retry(after: delay, stage)
    case .proceed: return proceed()
    case .respond: return respond(stage)
    }
  }

  private mutating func proceed() -> Action {
    switch phase {
    case .requestStage(let index): return requestStage(index + 1)
    case .responseStage(let index): return responseStage(index + 1)
    case .failureStage(let index):
      guard let failure else { return .wait }
      return failureStage(index + 1, failure)
    case .crossingStage(let index): return crossingStage(index + 1)
    default: return .wait
    }
  }

  private mutating func respond(_ stage: String) -> Action {
    if case .crossingStage = phase { return crossingWasAnswered(by: stage) }
    answeringStage = stage
    switch phase {
    case .requestStage: return responseStage(0)
    case .responseStage(let index): return responseStage(index + 1)
    case .failureStage(let index):
      failure = nil
      return responseStage(index + 1)
    default: return .wait
    }
  }

  private mutating func retry(after delay: Duration, _ stage: String) -> Action {
    guard attempt + 1 < plan.maximumAttempts else {
      return complete(
        TransactionError(
          code: .retriesExhausted,
          message: "it asked for another attempt after attempt \(attempt + 1) of \(plan.maximumAttempts)", stage: stage)
      )
    }
    guard plan.isReplayable else {
      return complete(
        TransactionError(
          code: .bodyNotReplayable,
          message: "it asked for another attempt, but the request body can be produced only once", stage: stage))
    }
    return retry(after: delay)
  }

  private mutating func retry(after delay: Duration) -> Action {
    guard isOnWire else { return emitRetry(delay) }
    phase = .endingHop(.retry(delay))
    return .receive(.discard)
  }

  private mutating func emitRetry(_ delay: Duration) -> Action {
    phase = .retryNotice(delay)
    return .emitRetry(delay)
  }

  private mutating func nextAttempt() -> Action {
    attempt += 1
    failure = nil
    answeringStage = nil
    crossing = nil
    wantsBody = false
    streamsBody = plan.streamsBody
    streamsOwnBody = false
    phase = .starting
    return .beginAttempt(attempt)
  }
}

// The answers of the retry policy.
extension TransactionMachine {
  /// Whether another attempt is possible that no stage has asked for.
  private var isRetryOpen: Bool { answeringStage == nil && attempt + 1 < plan.maximumAttempts && plan.isReplayable }

  /// Called when there is no response and no stage has decided.
  private mutating func fail(_ error: TransactionError) -> Action {
    guard isRetryOpen, plan.retriesFailures else { return complete(error) }
    phase = .considering(error)
    return .considerRetry(error)
  }

  /// The body is incomplete. Pieces that the caller has already got cannot be taken back.
  private mutating func breakOff(_ error: TransactionError) -> Action {
    guard !streamsBody else { return complete(error) }
    failure = error
    return fail(error)
  }

  private mutating func retryDenied(_ failure: TransactionError?) -> Action {
    failure.map { complete($0) } ?? takeBody()
  }
}
