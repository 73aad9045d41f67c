/// The answers of an interceptor.
public enum Verdict: Sendable, Hashable {
  /// Go on with the next stage.
  case proceed
  /// The exchange holds the response; the wire is skipped, response stages still run.
  case respond
  /// Start the next attempt from the original request.
  case retry(after: Duration)
  /// End the transaction. This is the stage's own decision, whatever its failure policy.
  case fail(StageFailure)
  /// The stage took a token from the exchange and will resume it.
  case suspended
  /// A request stage needs the whole body: it is called again once the body is in memory or in a file.
  case gatherBody
  /// The stage broke a rule or a deadline; its failure policy decides what follows.
  case fault(StageFailure)
}

/// The error that a stage ends a transaction with.
public struct StageFailure: Error, Sendable, Hashable {
  /// Behind one reference, so that a verdict, which seldom is a failure, takes two words.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: String
    var message: String
  }

  public init(code: String, message: String) { parts = SharedValue(Parts(code: code, message: message)) }

  /// A short word for programs, `[a-z0-9_]`.
  public var code: String {
    get { parts.value.code }
    set { parts.value.code = newValue }
  }

  /// What failed, why, and what to do.
  public var message: String {
    get { parts.value.message }
    set { parts.value.message = newValue }
  }
}
