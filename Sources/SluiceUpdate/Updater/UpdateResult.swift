public import SluiceMessages
public import SluiceUpdateRules

/// How a look for a release ended.
public struct UpdateResult: Sendable, Hashable {
  /// What happened.
  public enum Action: String, Sendable, Hashable {
    /// The newest release already serves, or no release can be installed.
    case none
    /// A release could be installed; it was only verified.
    case available
    /// A release was verified and downloaded, and waits for the next start or a command.
    case staged
    /// A release serves from now on; with an engine, it is on probation.
    case installed
    /// An older release serves again, or stages were switched off, because a build was revoked.
    case withdrawn
    case failed
  }

  /// What happened.
  public var action: Action
  /// The release that serves afterwards; nil without one.
  public var release: Int64?
  /// One sentence for people.
  public var message: String
  /// Why nothing was installed, if that is an error.
  public var error: UpdateError?

  /// The outcome as a schedule or a notification reports it.
  public var outcome: WorkOutcome {
    switch action {
    case .none: .noData
    case .available, .staged, .installed, .withdrawn: .newData
    case .failed: .failed
    }
  }
}
