public import SluiceMessages
public import SluiceUpdateRules

/// How a look for a release ended.
public struct UpdateResult: Sendable, Hashable {
  /// What happened.
  public enum Action: String, Sendable, Hashable {
    /// The newest release already serves, or no release can be installed.
    case none
    /// A release could be installed, but was only verified.
    case available
    /// A release was verified and downloaded, and waits for the next start or a command.
    case staged
    /// A release serves from now on. If there is an engine, the release is on probation.
    case installed
    /// An older release serves again, or stages were switched off, because a build was revoked.
    case withdrawn
    case failed
  }

  /// What happened.
  public var action: Action
  /// The release that serves afterwards; nil if none does.
  public var release: Int64?
  /// One sentence for people.
  public var message: String
  /// Why nothing was installed, if that is an error.
  public var error: UpdateError?

  /// The outcome in the form in which completions of schedules and notifications report it.
  public var outcome: WorkOutcome {
    switch action {
    case .none: .noData
    case .available, .staged, .installed, .withdrawn: .newData
    case .failed: .failed
    }
  }
}
