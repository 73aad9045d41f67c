public import SluiceJSON
public import SluicePipeline

/// What became of a notification.
public struct NotificationResult: Sendable, Hashable {
  /// Who had it last.
  public enum Taker: Sendable, Hashable {
    /// An instance, by its name in the configuration, with the id of its plugin.
    case plugin(stage: String, id: String, generation: Int)
    /// The program's own handler, see ``Engine/setNotificationHandler(_:)``.
    case program
  }

  public enum Outcome: Sendable, Hashable {
    /// It was taken, and ended so.
    case ended(WorkOutcome)
    /// No plugin wanted it, nor did the program.
    case notTaken
    /// The instance that had it was replaced by a swap, and ended after `swap.drain`. It may have been acted upon.
    case replaced
    /// The engine was shut down.
    case closing
  }

  /// Nil where nobody took it. With ``WorkOutcome/missedDeadline`` the instance that had it then, which may have been too
  /// busy to say whether it takes it.
  public let taker: Taker?
  public let outcome: Outcome
  /// From the call to the outcome.
  public let duration: Duration
}

extension NotificationResult.Outcome: CustomStringConvertible {
  /// A word for programs: `new-data`, `no-data`, `failed`, `missed-deadline`, `not-taken`, `replaced`, `closing`.
  public var description: String {
    switch self {
    case .ended(let outcome): outcome.rawValue
    case .notTaken: "not-taken"
    case .replaced: "replaced"
    case .closing: "closing"
    }
  }
}

/// Takes a notification that no plugin wants: its topic and its payload. Nil where the program does not want it either.
public typealias NotificationHandler = @Sendable (String, JSONValue) async -> WorkOutcome?
