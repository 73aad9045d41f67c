public import SluiceMessages

/// Why a transaction failed.
public struct TransactionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Behind one reference: every event, action and result has room for an error, and few have one.
  private var parts: Parts

  private final class Parts: Sendable {
    let code: String
    let message: String
    let stage: String?
    let isBeforeSending: Bool

    init(_ code: String, _ message: String, _ stage: String?, _ isBeforeSending: Bool) {
      self.code = code
      self.message = message
      self.stage = stage
      self.isBeforeSending = isBeforeSending
    }
  }

  public init(code: String, message: String, stage: String? = nil, isBeforeSending: Bool = false) {
    parts = Parts(code, message, stage, isBeforeSending)
  }

  /// A short word for programs: those of ``TransportError/Code``, those of ``Code``, or what a stage gave.
  public var code: String {
    get { parts.code }
    set { parts = Parts(newValue, message, stage, isBeforeSending) }
  }

  /// What failed, why, and what to do.
  public var message: String {
    get { parts.message }
    set { parts = Parts(code, newValue, stage, isBeforeSending) }
  }

  /// The stage at fault; nil where it was the transport, the request or the caller.
  public var stage: String? {
    get { parts.stage }
    set { parts = Parts(code, message, newValue, isBeforeSending) }
  }

  /// Whether no byte of the request can have reached the server.
  public var isBeforeSending: Bool {
    get { parts.isBeforeSending }
    set { parts = Parts(code, message, stage, newValue) }
  }

  public static func == (left: TransactionError, right: TransactionError) -> Bool {
    left.parts === right.parts
      || left.code == right.code && left.message == right.message && left.stage == right.stage
        && left.isBeforeSending == right.isBeforeSending
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
    hasher.combine(stage)
    hasher.combine(isBeforeSending)
  }

  public init(_ error: TransportError) {
    self.init(code: error.code.text, message: error.message, isBeforeSending: error.isBeforeSending)
  }

  public init(_ error: MessageError) {
    self.init(code: error.code.text, message: error.description, isBeforeSending: true)
  }

  public init(_ failure: StageFailure, stage: String) {
    self.init(code: failure.code, message: failure.message, stage: stage)
  }

  public var description: String { stage.map { "\(code): stage \"\($0)\": \(message)" } ?? "\(code): \(message)" }

  /// The codes that the pipeline itself gives.
  public enum Code {
    /// The transaction's deadline passed.
    public static let deadline = "deadline"
    public static let cancelled = "cancelled"
    /// The response is an HTTP error, or not among the accepted statuses.
    public static let status = "http_status"
    /// The caller's own validation of the response refused it.
    public static let response = "response"
    /// The body is not what the payload is made from.
    public static let extraction = "extraction"
    /// The payload is not what it has to be.
    public static let payload = "payload"
    /// A stage did not resume within its deadline.
    public static let stageTimeout = "stage_timeout"
    /// A stage broke a rule of the ABI.
    public static let stageFault = "stage_fault"
    /// A stage asked for another attempt and none was left.
    public static let retriesExhausted = "retries_exhausted"
    /// The body was produced once and cannot be sent again.
    public static let bodyNotReplayable = "body_not_replayable"
    /// A redirect led back to a request of the same attempt.
    public static let redirectLoop = "redirect_loop"
    /// More redirects than `redirects.max`.
    public static let tooManyRedirects = "too_many_redirects"
    public static let shutdown = "shutdown"
  }
}
