/// A place in the pipeline bound to an instance. A class, since every call of a stage refers to it.
package final class StageBinding: Sendable {
  /// The instance's name in the configuration.
  package let name: String
  package let interceptor: any Interceptor
  package let capabilities: StageCapabilities
  /// Which transactions the stage is for; nil for all.
  package let match: StageMatch?
  /// Bounds one suspended call; nil leaves it to the transaction's deadline.
  package let deadline: Duration?
  package let onFault: FaultPolicy

  package init(
    name: String, interceptor: any Interceptor, match: StageMatch? = nil, deadline: Duration? = nil,
    onFault: FaultPolicy = .fail
  ) {
    self.name = name
    self.interceptor = interceptor
    capabilities = interceptor.capabilities
    self.match = match
    self.deadline = deadline
    self.onFault = onFault
  }
}

/// What happens when a stage breaks a rule or misses its deadline.
public enum FaultPolicy: String, Sendable, Hashable, CaseIterable {
  /// The transaction fails.
  case fail
  /// The transaction goes on as if the stage had not been there.
  case skip
}
