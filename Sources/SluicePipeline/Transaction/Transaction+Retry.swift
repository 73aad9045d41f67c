import SluiceMessages
import SluiceMetrics

// The retry policy: what the machine asks when no stage has decided.
extension Transaction {
  /// - Parameter failure: why there is no response; nil where the status is in question.
  func considerRetry(_ failure: TransactionError?) -> TransactionMachine.Event {
    do { try exchange.settleResponse() } catch { return .abort(error) }
    let policy = pipeline.settings.retry
    let isWanted = failure.map(policy.wants) ?? policy.statuses.contains(exchange.responseStatus)
    guard isWanted, !hasSentUnrepeatable else { return .retryDenied(failure) }
    let now = loop.now
    let delay = retryDelay(policy, failure)
    guard now + delay < exchange.deadline else {
      let rest = exchange.deadline.duration(since: now)
      return deny(failure, "the next attempt would have to wait \(delay), and its deadline leaves \(rest)")
    }
    guard isRepeatForFree(failure) || environment.takeRetry(ratio: policy.budget, now: now) else {
      metrics.countRetryOverBudget()
      return deny(failure, "too many requests were repeated of late (retry.budget)")
    }
    retryReason = failure ?? statusError
    return .retryGranted(delay)
  }

  /// Whether the failure is one of a kept connection, which no other request has: not a server in trouble, whom the budget
  /// protects. Each attempt has one such repetition at most, since the next one gets a connection of its own.
  private func isRepeatForFree(_ failure: TransactionError?) -> Bool {
    failure?.code == .resent && !usesFreshConnection
  }

  /// The request never went over a connection that was dead; the first time there is nothing to wait for.
  private func retryDelay(_ policy: RetryPolicy, _ failure: TransactionError?) -> Duration {
    if failure?.code == .resent, exchange.attempt == 0 { return .zero }
    let delay = policy.backoff.delay(after: exchange.attempt, using: &environment.loop.random)
    guard failure == nil, let headers = exchange.nativeResponse?.headers else { return delay }
    return max(delay, RetryAfter.delay(headers, wallClock: loop.wallClock) ?? .zero)
  }

  private func deny(_ failure: TransactionError?, _ note: String) -> TransactionMachine.Event {
    guard var failure else {
      retryNote = note
      return .retryDenied(nil)
    }
    failure.message += "; not repeated: \(note)"
    return .retryDenied(failure)
  }

  /// Remembers a request that may have had an effect which repeating it would double.
  func noteIssue() {
    guard machine.plan.retriesByPolicy, !hasSentUnrepeatable else { return }
    hasSentUnrepeatable = !pipeline.settings.retry.methods.contains(exchange.nativeRequest.method)
  }

  /// Takes the note back where the transport knows that nothing reached the server.
  func noteEnd(_ error: TransportError) {
    if error.isBeforeSending, exchange.hop == 0 { hasSentUnrepeatable = false }
  }

  /// What a stage's verdict comes to whose wait would outlast the transaction; nil where there is time.
  func failureOfWait(_ delay: Duration) -> StageFailure? {
    guard delay > .zero else { return nil }
    let now = loop.now
    guard now + delay >= exchange.deadline else { return nil }
    return StageFailure(
      code: .deadline,
      message: "it asked for another attempt after \(delay), and the transaction's deadline leaves "
        + "\(exchange.deadline.duration(since: now))")
  }
}
