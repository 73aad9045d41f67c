/// What the sender of a trace says about recording it.
public enum SamplingState: String, Sendable, Hashable, CaseIterable {
  /// No decision: the receiver of the trace decides.
  case deferred
  case denied
  case accepted
  /// Accepted, and no later sampler may change this decision (the debug flag of B3).
  case debug
}
