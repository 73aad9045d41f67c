/// Limits that stages have set for one transaction. Each can only be lower than the limit of the configuration.
package struct ExchangeLimits: Sendable, Hashable {
  /// The time limit for the transaction, in nanoseconds from the call that set it. The exchange's deadline counts; this
  /// is kept for the journal.
  var timeoutNanoseconds = UInt64.max
  /// The time limit for one attempt on the wire, in nanoseconds.
  package var attemptNanoseconds = UInt64.max
  /// The size limit for the response body, gathered or streamed.
  package var responseBytes = Int.max
  /// The maximum number of attempts, including the first.
  package var attempts = Int.max

  package init() {}
}
