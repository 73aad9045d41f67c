/// An error with the plugin's own code and message; it ends the call, and the transaction fails with it.
public struct PluginFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A short code for programs: `[a-z0-9_]`.
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
/// The number of attempts is limited by the configuration; after that the transaction fails with `retries_exhausted`.
public struct RetryRequestError: Error, Hashable, Sendable {
  /// The wait before the next attempt.
  public var delay: Duration

  public init(after delay: Duration = .zero) {
    self.delay = delay
  }
}
