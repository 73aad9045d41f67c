import SluiceMessages

extension RetryPolicy {
  var concernsFailures: Bool { connectionErrors != .never }

  /// Whether another attempt may succeed after that failure.
  func wants(_ failure: TransactionError) -> Bool {
    guard failure.stage == nil else { return false }
    switch connectionErrors {
    case .never: return false
    case .deadConnection: return failure.code == .resent
    case .always: return Self.connectionCodes.contains(failure.code)
    }
  }

  private static let connectionCodes: [ErrorCode] = [
    .nameLookup, .connect, .connectTimeout, .connectionLost, .timeout, .resent,
  ]
}
