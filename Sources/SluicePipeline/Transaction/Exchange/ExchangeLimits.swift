/// Limits that stages have set for one transaction; each only lowers what the configuration allows.
package struct ExchangeLimits: Sendable, Hashable {
  /// Of one attempt on the wire, in nanoseconds.
  package var attemptNanoseconds = UInt64.max
  /// Of the response body, whether it is gathered or streamed.
  package var responseBytes = Int.max
  /// Attempts, the first included.
  package var attempts = Int.max

  package init() {}
}

extension Exchange {
  /// Ends the transaction at that time, unless it would end before. [loop]
  package func lowerDeadline(to deadline: Instant) {
    guard deadline < self.deadline else { return }
    self.deadline = deadline
    isDeadlineOwn = true
    transaction?.armTimer()
  }

  /// Lowers limits: a value above the one before has no effect. [loop]
  package func lowerLimits(_ change: (inout ExchangeLimits) -> Void) {
    var wanted = ExchangeLimits()
    change(&wanted)
    var limits = self.limits ?? ExchangeLimits()
    limits.attemptNanoseconds = min(limits.attemptNanoseconds, wanted.attemptNanoseconds)
    limits.responseBytes = min(limits.responseBytes, wanted.responseBytes)
    limits.attempts = min(limits.attempts, wanted.attempts)
    self.limits = limits
    transaction?.machine.limitAttempts(to: limits.attempts)
  }
}
