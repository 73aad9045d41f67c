public import SluiceMessages

/// Why a transaction failed.
public struct TransactionError: DescribedError, Sendable, Hashable {
  /// Stored behind one reference: every event, action and result has room for an error, and few have one.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: ErrorCode
    var message: String
    var stage: String?
    var isBeforeSending: Bool
    var detail: TransportError.Detail?
    var underlying = Underlying()
  }

  /// An error that does not count when errors are compared, because not every error can be compared.
  private struct Underlying: Sendable, Hashable {
    var error: (any Error)?

    static func == (one: Self, other: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  package init(code: ErrorCode, message: String, stage: String? = nil, isBeforeSending: Bool = false) {
    parts = SharedValue(Parts(code: code, message: message, stage: stage, isBeforeSending: isBeforeSending))
  }

  /// One of the constants of ``ErrorCode``, or a code that a stage has chosen.
  public var code: ErrorCode {
    get { parts.value.code }
    set { parts.value.code = newValue }
  }

  /// What failed, why, and what to do.
  public var message: String {
    get { parts.value.message }
    set { parts.value.message = newValue }
  }

  /// The stage at fault, or the stage whose own answer is the failure; nil if the server, the transport, the request or
  /// the caller is at fault.
  public var stage: String? {
    get { parts.value.stage }
    set { parts.value.stage = newValue }
  }

  /// Whether no byte of the request can have reached the server.
  public var isBeforeSending: Bool {
    get { parts.value.isBeforeSending }
    set { parts.value.isBeforeSending = newValue }
  }

  /// The error of the caller's own code that made the transaction fail, such as the error of an upload's sequence; nil
  /// if there is none. It does not count when errors are compared.
  public var underlying: (any Error)? {
    get { parts.value.underlying.error }
    set { parts.value.underlying.error = newValue }
  }

  /// Nil if nothing more is known, and for errors that do not come from a transport.
  package var detail: TransportError.Detail? {
    get { parts.value.detail }
    set { parts.value.detail = newValue }
  }

  package init(_ error: TransportError) {
    self.init(code: error.code, message: error.message, isBeforeSending: error.isBeforeSending)
    if let detail = error.detail { self.detail = detail }
  }

  package init(_ error: MessageError) {
    self.init(code: error.code, message: error.description, isBeforeSending: true)
  }

  package init(_ failure: StageFailure, stage: String) {
    self.init(code: failure.code, message: failure.message, stage: stage)
  }

  /// The error for a result that has neither a response nor an error. The engine never gives such a result.
  package static let withoutResponse = TransactionError(code: .transport, message: "no response and no error")

  /// For people, on one line, because the message may come from a plugin.
  public var description: String {
    PlainText.line(stage.map { "\(code): stage \"\($0)\": \(message)" } ?? "\(code): \(message)")
  }
}
