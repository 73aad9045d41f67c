import SluiceMessages

/// Limits that stages have set for one transaction. Each can only be lower than the limit of the configuration.
package struct ExchangeLimits: Sendable, Hashable {
  /// The time limit for one attempt on the wire, in nanoseconds.
  package var attemptNanoseconds = UInt64.max
  /// The size limit for the response body, gathered or streamed.
  package var responseBytes = Int.max
  /// The maximum number of attempts, including the first.
  package var attempts = Int.max

  package init() {}
}

extension Exchange {
  /// Ends the transaction at that time, unless its deadline is earlier. [loop]
  package func lowerDeadline(to deadline: Instant) {
    guard deadline < self.deadline else { return }
    self.deadline = deadline
    isDeadlineOwn = true
    transaction?.armTimer()
  }

  /// Lowers limits: a value above the current one has no effect. [loop]
  package func lowerLimits(_ change: (inout ExchangeLimits) -> Void) {
    var wanted = ExchangeLimits()
    change(&wanted)
    var limits = self.limits ?? ExchangeLimits()
    limits.attemptNanoseconds = min(limits.attemptNanoseconds, wanted.attemptNanoseconds)
    limits.responseBytes = min(limits.responseBytes, wanted.responseBytes)
    limits.attempts = min(limits.attempts, wanted.attempts)
    sharedLimits = SharedValue(limits)
    transaction?.machine.limitAttempts(to: limits.attempts)
  }
}
