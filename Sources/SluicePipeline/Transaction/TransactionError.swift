package import SluiceMessages

/// Why a transaction failed.
public struct TransactionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Stored behind one reference: every event, action and result has room for an error, but few have one.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: String
    var message: String
    var stage: String?
    var isBeforeSending: Bool
  }

  package init(code: String, message: String, stage: String? = nil, isBeforeSending: Bool = false) {
    parts = SharedValue(Parts(code: code, message: message, stage: stage, isBeforeSending: isBeforeSending))
  }

  /// A short code for programs: one of ``TransportError/Code`` or ``Code``, or a stage's own.
  public var code: String {
    get { parts.value.code }
    set { parts.value.code = newValue }
  }

  /// What failed, why, and what to do.
  public var message: String {
    get { parts.value.message }
    set { parts.value.message = newValue }
  }

  /// The stage at fault, or the stage whose own answer is the failure; nil if the server, the transport, the request or
  /// the caller caused it.
  public var stage: String? {
    get { parts.value.stage }
    set { parts.value.stage = newValue }
  }

  /// Whether it is certain that no byte of the request has reached the server.
  public var isBeforeSending: Bool {
    get { parts.value.isBeforeSending }
    set { parts.value.isBeforeSending = newValue }
  }

  package init(_ error: TransportError) {
    self.init(code: error.code.text, message: error.message, isBeforeSending: error.isBeforeSending)
  }

  package init(_ error: MessageError) {
    self.init(code: error.code.text, message: error.description, isBeforeSending: true)
  }

  package init(_ failure: StageFailure, stage: String) {
    self.init(code: failure.code, message: failure.message, stage: stage)
  }

  /// A text for people, on one line, because the message may come from a plugin.
  public var description: String {
    PlainText.line(stage.map { "\(code): stage \"\($0)\": \(message)" } ?? "\(code): \(message)")
  }

  /// The codes of the pipeline itself.
  public enum Code {
    /// The transaction's deadline passed.
    public static let deadline = "deadline"
    /// The caller cancelled the transaction, or its sink wants no more of the body. With a stage, that stage cancelled.
    public static let cancelled = "cancelled"
    /// The receiver of the response body could not accept it, because of a full disk or a closed reader.
    public static let sink = "sink"
    /// The response's status is an HTTP error, or is not accepted. The error names the stage that answered in
    /// place of the server, if one did.
    public static let status = "http_status"
    /// The caller's own validation of the response refused it.
    public static let response = "response"
    /// The body cannot be converted into a payload.
    public static let extraction = "extraction"
    /// The payload fails a check.
    public static let payload = "payload"
    /// A stage did not resume within its deadline.
    public static let stageTimeout = "stage_timeout"
    /// A stage broke a rule of the ABI.
    public static let stageFault = "stage_fault"
    /// A stage asked for another attempt, and no attempt was left.
    public static let retriesExhausted = "retries_exhausted"
    /// The body was produced once and cannot be sent again.
    public static let bodyNotReplayable = "body_not_replayable"
    /// A redirect led back to a request of the same attempt.
    public static let redirectLoop = "redirect_loop"
    /// More redirects than `redirects.max`.
    public static let tooManyRedirects = "too_many_redirects"
    /// A redirect has a `Location` that cannot be followed.
    public static let redirectRefused = "redirect_refused"
    /// The engine was shut down before the transaction began or before it was done.
    public static let shutdown = "shutdown"
    /// The engine has reached its limit of transactions in flight.
    public static let tooManyTransactions = "too_many_transactions"
    /// The engine has reached its limit of BLOCKING calls under way.
    public static let tooManyBlockingCalls = "too_many_blocking_calls"
    /// A stage did not return, so the transaction's loop stood still, and another thread gave the result.
    public static let stalled = "stalled"
  }
}
