import SluiceMessages

// The retry policy, which the machine asks if no stage has decided.
extension Transaction {
  private var retryPolicy: RetryPolicy { options?.value.retry ?? pipeline.settings.retry }

  /// - Parameter failure: why there is no response; nil if the policy decides about the status.
  func considerRetry(_ failure: TransactionError?) -> TransactionMachine.Event {
    do { try settleResponse() } catch { return .abort(error) }
    let policy = retryPolicy
    let isWanted = failure.map(policy.wants) ?? policy.statuses.contains(responseStatus)
    guard isWanted, !thisAttempt.hasSentUnrepeatable else { return .retryDenied(failure) }
    let now = loop.now
    let delay = retryDelay(policy, failure)
    guard now + delay < deadline else {
      let rest = deadline.duration(since: now)
      return deny(failure, "the next attempt would have to wait \(delay), but the deadline leaves \(rest)")
    }
    if let window = policy.window, now.duration(since: started) + retryAfter(failure) >= window {
      return deny(failure, "the next attempt would begin more than \(window) after the first (--retry-max-time)")
    }
    guard isRepeatForFree(failure) || environment.takeRetry(ratio: policy.budget, now: now) else {
      metrics.countRetryOverBudget()
      return deny(failure, "too many requests were repeated recently (retry.budget)")
    }
    retryReason = failure ?? statusError
    return .retryGranted(delay)
  }

  /// Whether the failed connection was kept after an earlier request, so that another attempt does not count against
  /// the budget. The budget protects servers in trouble, and a kept connection that was closed is no sign of trouble.
  /// Each attempt has at most one such retry, since the next attempt gets a new connection.
  private func isRepeatForFree(_ failure: TransactionError?) -> Bool {
    failure?.code == .resent && !thisAttempt.usesFreshConnection
  }

  /// The request was never sent over the dead connection, so the first retry of this kind need not wait.
  private func retryDelay(_ policy: RetryPolicy, _ failure: TransactionError?) -> Duration {
    if failure?.code == .resent, attempt == 0 { return .zero }
    let delay = policy.backoff.delay(after: attempt, using: &environment.loop.random)
    return max(delay, retryAfter(failure))
  }

  /// How long the server asks to wait; zero if it does not.
  private func retryAfter(_ failure: TransactionError?) -> Duration {
    guard failure == nil, let headers = responseForms.native?.headers else { return .zero }
    return RetryAfter.delay(headers, wallClock: loop.wallClock) ?? .zero
  }

  private func deny(_ failure: TransactionError?, _ note: String) -> TransactionMachine.Event {
    guard var failure else {
      retryNote = note
      return .retryDenied(nil)
    }
    failure.message += "; not repeated: \(note)"
    return .retryDenied(failure)
  }

  /// Notes that the server may have acted on the request, so that a retry could repeat the effect.
  func noteIssue() {
    guard machine.plan.retriesByPolicy, !thisAttempt.hasSentUnrepeatable else { return }
    // The policy is read in place, because it would otherwise be copied for each hop.
    if let own = options?.value.retry {
      thisAttempt.hasSentUnrepeatable = !own.methods.contains(requestForms.native.method)
    } else {
      thisAttempt.hasSentUnrepeatable = !pipeline.settings.retry.methods.contains(requestForms.native.method)
    }
  }

  /// Removes the note of ``noteIssue()`` if the transport knows that nothing reached the server.
  func noteEnd(_ error: TransportError) {
    if error.isBeforeSending, hop == 0 { thisAttempt.hasSentUnrepeatable = false }
  }

  /// The failure of a stage's retry verdict that asks for a wait beyond the transaction's deadline; nil if there is
  /// time for the wait.
  func failureOfWait(_ delay: Duration) -> StageFailure? {
    guard delay > .zero else { return nil }
    let now = loop.now
    guard now + delay >= deadline else { return nil }
    return StageFailure(
      code: .deadline,
      message: "it asked for another attempt after \(delay), and the transaction's deadline leaves "
        + "\(deadline.duration(since: now))")
  }
}
