/// Ends a call with an error of the plugin's own wording; the transaction fails with it.
public struct PluginFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A short word for programs: `[a-z0-9_]`.
  public var code: String
  /// What failed, on what, why, and what to do, for people.
  public var message: String

  public init(code: String = "stage_failed", message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}

/// Thrown by an interceptor: start the next attempt, from the original request.
///
/// The attempts are counted; past the configured number the transaction ends with what it has.
public struct RetryRequestError: Error, Hashable, Sendable {
  /// How long to wait before it.
  public var delay: Duration

  public init(after delay: Duration = .zero) {
    self.delay = delay
  }
}
