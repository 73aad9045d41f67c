public import SluiceJSON

/// A message from outside, for instance by `sluice ctl notify`.
public struct PluginNotification: Sendable {
  /// What the message is about, chosen by the sender; handlers decide by it in ``NotificationHandler/takes(_:)``.
  public let topic: String
  /// The payload; each plugin gets its own copy.
  public let payload: JSONValue
}
