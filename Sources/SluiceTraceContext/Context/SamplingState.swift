/// What the sender of a trace says about recording it.
public enum SamplingState: String, Sendable, Hashable, CaseIterable {
  /// Nothing: who receives the trace decides.
  case deferred
  case denied
  case accepted
  /// Accepted, past every sampler on the way (the debug flag of B3).
  case debug
}
