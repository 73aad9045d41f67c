import SluiceMessages

// Calls of the stages that a body passes.
extension BodyPassage {
  func binding(_ stage: Int, _ transaction: Transaction) -> StageBinding {
    side == .request
      ? transaction.pipeline.requestStages[stages[stage]] : transaction.pipeline.responseStages[stages[stage]]
  }

  func callChunk(_ stage: Int, _ piece: [UInt8]) -> BodyFlow.Event? {
    guard let transaction else { return nil }
    let binding = binding(stage, transaction)
    transaction.notes?.journal?.willPass(binding.name, side)
    var output: [UInt8] = []
    let verdict = call(stage, transaction) { exchange in
      binding.interceptor.interceptPiece(exchange, side, piece, &output)
    }
    if transaction.notes != nil { transaction.notePiece(binding, side, piece, verdict, output) }
    return settle(verdict, output, piece: piece, stage, binding, transaction)
  }

  func callEnd(_ stage: Int) -> BodyFlow.Event? {
    guard let transaction else { return nil }
    let binding = binding(stage, transaction)
    var output: [UInt8] = []
    let verdict = call(stage, transaction) { exchange in
      binding.interceptor.interceptBodyEnd(exchange, side, &output)
    }
    if transaction.notes != nil {
      transaction.notePiece(binding, side, [], verdict == .pass ? .taken : verdict, output)
    }
    return settle(verdict, output, piece: [], stage, binding, transaction)
  }

  private func call(
    _ stage: Int, _ transaction: Transaction, _ function: (Exchange) -> PieceVerdict
  ) -> PieceVerdict {
    let exchange = transaction
    let before = exchange.phase
    exchange.phase = side == .request ? .request : .response
    calledStage = stage
    takenToken = nil
    transaction.callingPassage = self
    let started = transaction.loop.now
    let verdict = function(exchange)
    let ended = transaction.loop.now
    transaction.callingPassage = nil
    calledStage = nil
    exchange.phase = before
    transaction.metrics.recordStage(kind, stages[stage], nanoseconds: ended.nanoseconds &- started.nanoseconds)
    return verdict
  }

  private var kind: StagePhase { side == .request ? .request : .response }

  /// Checks that a stage's answer is consistent with its use of a token, and returns the event for the flow.
  private func settle(
    _ verdict: PieceVerdict, _ output: [UInt8], piece: [UInt8], _ stage: Int, _ binding: StageBinding,
    _ transaction: Transaction
  ) -> BodyFlow.Event {
    let token = takenToken.take()
    if verdict == .suspended, let token {
      let deadline = binding.deadline.map { transaction.loop.now + $0 } ?? .distantFuture
      suspensions.append(Suspension(token: token, stage: stage, deadline: deadline))
      transaction.armTimer()
      return .answered(.suspended, output: output)
    }
    // If the stage took a token but did not suspend, the token expires, so that it cannot be resumed later.
    if let token { _ = transaction.environment.suspensions.expire(token) }
    if verdict == .suspended { return fault(Self.suspendedWithoutToken, stage, binding, transaction) }
    if case .fault(let failure) = verdict { return fault(failure, stage, binding, transaction) }
    return .answered(verdict, output: output)
  }

  /// Counts a fault. If the stage's policy is to skip it, the piece passes unchanged.
  private func fault(
    _ failure: StageFailure, _ stage: Int, _ binding: StageBinding, _ transaction: Transaction
  ) -> BodyFlow.Event {
    transaction.countFault(failure, binding, at: StagePlace(phase: kind, index: stages[stage]))
    return .answered(binding.onFault == .skip ? .pass : .fault(failure), output: [])
  }

  private static let suspendedWithoutToken = StageFailure(
    code: .stageFault,
    message: "it answered SUSPENDED to a piece without having taken a token with suspend")
}

// Suspended stages.
extension BodyPassage {
  /// Returns a token for the current call; called by the exchange.
  func takeToken() -> SuspensionToken? {
    guard takenToken == nil, calledStage != nil, let transaction else { return nil }
    takenToken = transaction.environment.suspensions.take(for: transaction)
    return takenToken
  }

  /// Accepts bytes from a suspended stage. Returns false when they would exceed the limit, nil for a token of another
  /// call.
  func write(_ bytes: UnsafeBufferPointer<UInt8>, upTo limit: Int, by token: SuspensionToken) -> Bool? {
    guard let index = suspensions.firstIndex(where: { $0.token == token }) else { return nil }
    guard bytes.count <= limit - suspensions[index].output.count else { return false }
    unsafe suspensions[index].output.append(contentsOf: bytes)
    return true
  }

  /// The name of the stage that is being called; otherwise the name of a stage that is suspended.
  var stageName: String? {
    guard let stage = calledStage ?? suspensions.first?.stage, let transaction else { return nil }
    return binding(stage, transaction).name
  }

  var isSuspended: Bool { !suspensions.isEmpty }

  var nextDeadline: Instant { suspensions.lazy.map(\.deadline).min() ?? .distantFuture }

  /// Continues after a suspended stage was resumed; returns false for a token of another call.
  func wasResumed(_ token: SuspensionToken, _ verdict: Verdict) -> Bool {
    guard let index = suspensions.firstIndex(where: { $0.token == token }), let transaction else { return false }
    let suspension = suspensions.remove(at: index)
    let binding = binding(suspension.stage, transaction)
    switch verdict {
    case .proceed:
      if transaction.notes != nil { transaction.notePiece(binding, side, [], .taken, suspension.output) }
      goOn(.resumed(stage: suspension.stage, output: suspension.output))
    case .fail(let failure), .fault(let failure): fail(failure, binding)
    case .respond, .retry, .suspended, .gatherBody: fail(Self.wrongResumption, binding)
    }
    return true
  }

  /// Ends the suspensions whose deadline has passed, or all of them if a reason is given.
  func expireSuspensions(at now: Instant, _ reason: String? = nil) {
    for suspension in suspensions where reason != nil || suspension.deadline <= now {
      guard let transaction, let index = suspensions.firstIndex(where: { $0.token == suspension.token }) else { return }
      // A token that cannot be expired was already resumed: its resumption is in the loop's inbox, which runs after the
      // timers.
      suspensions[index].deadline = .distantFuture
      guard transaction.environment.suspensions.expire(suspension.token) else { continue }
      suspensions.remove(at: index)
      let binding = binding(suspension.stage, transaction)
      binding.interceptor.suspensionWasCancelled(suspension.token)
      let reason = reason ?? "it did not resume within its deadline of \(binding.deadline ?? .zero)"
      let failure = StageFailure(code: .stageTimeout, message: reason)
      transaction.countFault(failure, binding, at: StagePlace(phase: kind, index: stages[suspension.stage]))
      if binding.onFault == .skip { goOn(.skipped(stage: suspension.stage)) } else { fail(failure, binding) }
    }
  }

  func goOn(_ event: BodyFlow.Event) {
    turnBytes = 0
    handle(event)
  }

  private func fail(_ failure: StageFailure, _ binding: StageBinding) {
    guard let transaction else { return }
    if transaction.notes != nil { transaction.notePiece(binding, side, [], .fail(failure), []) }
    transaction.run(.abort(TransactionError(failure, stage: binding.name)))
  }

  private static let wrongResumption = StageFailure(
    code: .stageFault,
    message: "while a body flows, a resumption must carry CONTINUE or FAIL")
}
