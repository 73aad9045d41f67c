import CSluice
public import SluiceMessages

/// Why there is no response.
public struct Failure: Hashable, Sendable {
  /// The kind of the failure: a constant of ``ErrorCode``, or a stage's own code.
  public var code: ErrorCode
  /// For people; decide by ``code`` instead.
  public var message: String
  /// The stage that failed; nil if the transport failed.
  public var stage: String?
  /// Whether it is certain that no byte of the request has reached the server.
  public var isBeforeSending: Bool

  init(_ failure: sluice_failure) {
    code = ErrorCode(rawValue: String(failure.code))
    message = String(failure.message)
    stage = failure.stage.size == 0 ? nil : String(failure.stage)
    isBeforeSending = failure.is_before_sending != 0
  }
}
