/// Why a server does not take a request.
package struct RequestViolation: Error, Hashable, Sendable {
  /// The status with which the server answers (RFC 9110 §15) before it closes the connection.
  package let status: Int
  /// What is wrong, without a full stop.
  package let reason: String

  package init(_ status: Int = 400, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  /// Bytes that are not valid: 400, or 431 if a head is too long (RFC 6585 §5).
  package init(_ violation: MessageViolation) {
    switch violation.kind {
    case .notHTTP, .invalid: self.init(400, violation.reason)
    case .tooLong: self.init(431, violation.reason)
    }
  }
}
