/// The error with which a stage ends a transaction.
public struct StageFailure: DescribedError, Sendable, Hashable {
  /// Stored behind one reference, so that a verdict takes two words; verdicts are seldom failures.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: ErrorCode
    var message: String
  }

  /// - Parameter code: `[a-z0-9_]`, which is not checked; the result of the transaction has it as its error code.
  public init(code: ErrorCode = "stage_failed", message: String) {
    parts = SharedValue(Parts(code: code, message: message))
  }

  /// The kind of the failure, `[a-z0-9_]`.
  public var code: ErrorCode {
    get { parts.value.code }
    set { parts.value.code = newValue }
  }

  /// The message for people: what failed, on what, why, and what to do.
  public var message: String {
    get { parts.value.message }
    set { parts.value.message = newValue }
  }

  /// The message alone, without the code.
  public var description: String { message }
}

/// The error that a stage throws to start the next attempt, from the original request.
///
/// The configuration limits the number of attempts; after that the transaction fails with `retries_exhausted`.
public struct RetryRequestError: DescribedError, Sendable, Hashable {
  /// The wait before the next attempt.
  public var delay: Duration

  /// Without a delay the next attempt begins at once. If the delay reaches the deadline of the transaction, the
  /// transaction fails with `deadline`.
  public init(after delay: Duration = .zero) { self.delay = delay }

  /// For people, if the error is shown by mistake.
  public var description: String { "a stage asks for another attempt after \(delay)" }
}
