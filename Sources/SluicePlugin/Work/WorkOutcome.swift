import CSluice

/// What a plugin says of work that is done: scheduled work, or a notification that it took.
public enum WorkOutcome: UInt32, Sendable, Hashable {
  case newData = 1
  case noData = 2
  case failed = 3
}

/// A message from outside, for instance by `sluice ctl notify`.
public struct PluginNotification: Sendable {
  public let topic: String
  /// A copy of its own.
  public let payload: JSONValue
}
