import SluiceJSON
public import SluiceMessages

/// The result of a notification.
public struct NotificationResult: Sendable, Hashable {
  /// The last receiver of the notification.
  public enum Taker: Sendable, Hashable {
    /// An instance, by its name in the configuration, with the id of its plugin.
    case plugin(stage: String, id: String, generation: Int)
    /// The program's own handler, see ``Engine/setNotificationHandler(_:)``.
    case program
    /// The updater of signed releases, which takes the topic `ota_update`.
    case updater
  }

  /// How a notification ended.
  public enum Outcome: Sendable, Hashable {
    /// The notification was taken, and ended with this outcome.
    case ended(WorkOutcome)
    /// Neither a plugin nor the program took the notification.
    case notTaken
    /// A swap replaced the instance that had taken the notification, and the instance ended after `swap.drain`. It
    /// might have acted on the notification.
    case replaced
    /// The engine was shut down.
    case closing
  }

  /// The receiver; nil if the notification was not taken. With ``WorkOutcome/missedDeadline``, this is the instance
  /// that had the notification at the deadline. It might have been too busy to take or refuse the notification.
  public let taker: Taker?
  /// Whether the notification was taken, and how it ended.
  public let outcome: Outcome
  /// The time from the call to the outcome.
  public let duration: Duration
}

extension NotificationResult.Outcome: CustomStringConvertible {
  /// A code for programs: `new-data`, `no-data`, `failed`, `missed-deadline`, `not-taken`, `replaced`, `closing`.
  public var description: String {
    switch self {
    case .ended(let outcome): outcome.rawValue
    case .notTaken: "not-taken"
    case .replaced: "replaced"
    case .closing: "closing"
    }
  }
}
