import CSluice

/// Why there is no response.
public struct Failure: Hashable, Sendable {
  /// A code for programs: `dns`, `connect`, `tls`, `timeout`, `connection_lost` …
  public var code: String
  /// For people; decide by ``code`` instead.
  public var message: String
  /// The stage that failed; nil if the transport failed.
  public var stage: String?
  /// Whether it is certain that no byte of the request has reached the server.
  public var isBeforeSending: Bool

  init(_ failure: sluice_failure) {
    code = String(failure.code)
    message = String(failure.message)
    stage = failure.stage.size == 0 ? nil : String(failure.stage)
    isBeforeSending = failure.is_before_sending != 0
  }
}
