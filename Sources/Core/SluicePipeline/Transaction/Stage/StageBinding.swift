/// A place in the pipeline bound to an instance. This is a class, because every call of a stage refers to it.
package final class StageBinding: Sendable {
  /// The instance's name in the configuration.
  package let name: String
  package let interceptor: any Interceptor
  package let capabilities: StageCapabilities
  /// The transactions for which the stage is called; nil for all.
  package let match: StageMatch?
  /// The time limit for one suspended call; with nil only the transaction's deadline applies.
  package let deadline: Duration?
  package let onFault: FaultPolicy
  /// The object that follows the hops; nil if the stage is not a delegate.
  package let observer: (any HopObserver)?

  package init(
    name: String, interceptor: any Interceptor, match: StageMatch? = nil, deadline: Duration? = nil,
    onFault: FaultPolicy = .fail, observer: (any HopObserver)? = nil
  ) {
    self.name = name
    self.interceptor = interceptor
    capabilities = interceptor.capabilities
    self.match = match
    self.deadline = deadline
    self.onFault = onFault
    self.observer = observer
  }
}

/// What happens when a stage breaks a rule or misses its deadline.
public enum FaultPolicy: String, Sendable, Hashable, CaseIterable {
  /// The transaction fails.
  case fail
  /// The transaction continues as if the stage did not exist.
  case skip
}
