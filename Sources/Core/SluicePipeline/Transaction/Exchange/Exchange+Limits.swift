import SluiceMessages

extension Exchange {
  /// Ends the transaction after that time, unless its deadline is earlier. [loop]
  package func lowerTimeout(to nanoseconds: UInt64) {
    lowerDeadline(to: loop.now.advanced(byNanoseconds: nanoseconds))
    // A copy for another thread has no transaction, and does not know whether there is a journal.
    if transaction == nil || transaction?.notes?.journal != nil { lowerLimits { $0.timeoutNanoseconds = nanoseconds } }
  }

  /// Ends the transaction at that time, unless its deadline is earlier. [loop]
  func lowerDeadline(to deadline: Instant) {
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
    limits.timeoutNanoseconds = min(limits.timeoutNanoseconds, wanted.timeoutNanoseconds)
    limits.attemptNanoseconds = min(limits.attemptNanoseconds, wanted.attemptNanoseconds)
    limits.responseBytes = min(limits.responseBytes, wanted.responseBytes)
    limits.attempts = min(limits.attempts, wanted.attempts)
    sharedLimits = SharedValue(limits)
    transaction?.machine.limitAttempts(to: limits.attempts)
  }
}
