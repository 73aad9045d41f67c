public import SluiceMessages

/// The answers of an interceptor.
public enum Verdict: Sendable, Hashable {
  /// Continue with the next stage.
  case proceed
  /// The stage has put a response into the exchange. No request is sent; response stages still run.
  case respond
  /// Start the next attempt from the original request.
  case retry(after: Duration)
  /// End the transaction. This is the stage's own decision, independent of its failure policy.
  case fail(StageFailure)
  /// The stage took a token from the exchange and will resume it.
  case suspended
  /// A request stage needs the whole body: it is called again once the body is in memory or in a file.
  case gatherBody
  /// The stage broke a rule or a deadline; its failure policy decides what follows.
  case fault(StageFailure)
}
