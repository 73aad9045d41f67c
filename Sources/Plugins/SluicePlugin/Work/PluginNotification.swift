public import SluiceJSON

/// A message from outside, for instance by `sluice ctl notify`.
public struct PluginNotification: Sendable {
  /// The subject of the message, which the sender chooses. ``NotificationHandler/takes(_:)`` usually decides by it.
  public let topic: String
  /// The payload; each plugin gets its own copy.
  public let payload: JSONValue
}
