import SluiceMessages

extension Transaction: LoopTimerTarget {
  /// Sets the one timer to the nearest of the deadlines. A timer that fires too early is set again. This is cheaper
  /// than moving the timer with each phase.
  func armTimer() {
    // The timer of an ended transaction can already belong to another transaction.
    if machine.isDone { return }
    var nearest = min(deadline, deadlines.nearest)
    if let requestPassage { nearest = min(nearest, requestPassage.nextDeadline) }
    if let responsePassage { nearest = min(nearest, responsePassage.nextDeadline) }
    guard nearest != .distantFuture else { return }
    guard timer.isArmed, timer.deadline <= nearest else { return loop.arm(timer, at: nearest, for: self) }
    // An earlier transaction may have armed the timer.
    if timer.target == nil { timer.target = self }
  }

  /// Limits the remaining time of an attempt whose limit passed while the attempt waited for a stage.
  func renewAttemptDeadline() {
    guard deadlines.attempt == .distantFuture, !deadlines.isAttemptStopped else { return }
    deadlines.attempt = loop.now.advanced(byNanoseconds: attemptNanoseconds)
    armTimer()
  }

  /// The time limit for one attempt, in nanoseconds.
  var attemptNanoseconds: UInt64 {
    let limit = options?.value.attemptTimeout?.nanoseconds ?? pipeline.attemptTimeoutNanoseconds
    guard let own = sharedLimits else { return limit }
    return min(limit, own.value.attemptNanoseconds)
  }

  /// Called before the request is sent: the limit that a stage has set applies to this attempt too.
  func limitAttempt() {
    guard let limit = limits?.attemptNanoseconds, limit < .max else { return }
    deadlines.attempt = min(deadlines.attempt, loop.now.advanced(byNanoseconds: limit))
    armTimer()
  }

  package func timerDidFire(_ timer: LoopTimer) {
    let now = loop.now
    if deadline <= now { passDeadline() } else { serve(deadlines.due(at: now), at: now) }
    if !machine.isDone { armTimer() }
  }

  private func serve(_ due: Deadlines.Kind?, at now: Instant) {
    switch due {
    case .stage: stageTimedOut()
    case .retry:
      deadlines.retry = .distantFuture
      run(.retryDelayPassed)
    case .attempt:
      deadlines.attempt = .distantFuture
      notes?.recorder?.willCut(attemptFailure)
      run(.attemptTimedOut(attemptError))
    case .idle: idlePassed(at: now)
    case nil: for passage in openPassages { passage.expireSuspensions(at: now) }
    }
  }

  func passDeadline() {
    let error = deadlineError
    notes?.recorder?.willCut(TransportError(error.code, error.message))
    run(.abort(error))
  }

  private var deadlineError: TransactionError {
    // A request may have its own limit.
    let isConfigured = result.originalRequest.timeout == nil && !isDeadlineOwn
    let name =
      isDeadlineOwn ? ", which a stage has set" : isConfigured ? " (\(pipeline.settings.names.deadline))" : ""
    return TransactionError(
      code: .deadline,
      message: "\(shownRequest) was not done within its deadline of"
        + " \(deadline.duration(since: started))\(name)\(refusals)")
  }

  private var attemptError: TransactionError { TransactionError(attemptFailure) }

  private var attemptFailure: TransportError {
    TransportError(
      .timeout,
      "no whole response from \(shownURL) within \(Duration.nanoseconds(Int64(clamping: attemptNanoseconds)))"
        + (limits.map { $0.attemptNanoseconds < .max } == true
          ? ", which a stage has set"
          : options?.value.attemptTimeout == nil ? " (\(pipeline.settings.names.timeout))" : "") + refusals)
  }

  /// How often the server has stated that it did not process the request; an empty text if it has not.
  private var refusals: String {
    let count = machine.resends
    guard count > 0 else { return "" }
    return "; the server has refused the request \(count == 1 ? "once" : "\(count) times") without processing it"
  }
}
