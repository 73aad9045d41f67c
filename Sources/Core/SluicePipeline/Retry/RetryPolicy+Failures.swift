import SluiceMessages

extension RetryPolicy {
  var concernsFailures: Bool { connectionErrors != .never || coversEveryFailure }

  /// Whether another attempt can succeed after that failure.
  package func wants(_ failure: TransactionError) -> Bool {
    guard failure.stage == nil else { return false }
    if coversEveryFailure, !Self.finalCodes.contains(failure.code) { return true }
    switch connectionErrors {
    case .never: return false
    case .deadConnection: return failure.code == .resent
    case .always: return Self.connectionCodes.contains(failure.code) || isUnreachableProxy(failure)
    }
  }

  /// Whether no connection to the proxy was made. A proxy that refuses is asked only once.
  private func isUnreachableProxy(_ failure: TransactionError) -> Bool {
    failure.code == .proxy && (failure.detail == nil || failure.detail == .proxyName)
  }

  /// Failures that another attempt cannot change, or that end the transaction.
  private static let finalCodes: [ErrorCode] = [
    .cancelled, .deadline, .sink, .shutdown, .stalled, .transport, .requestTooLarge, .bodyFile, .bodyNotReplayable,
  ]

  private static let connectionCodes: [ErrorCode] = [
    .nameLookup, .connect, .connectTimeout, .connectionLost, .timeout, .resent,
  ]
}
