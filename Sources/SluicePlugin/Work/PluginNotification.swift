public import SluiceJSON

/// A message from outside, for instance by `sluice ctl notify`.
public struct PluginNotification: Sendable {
  public let topic: String
  /// A copy of its own.
  public let payload: JSONValue
}
