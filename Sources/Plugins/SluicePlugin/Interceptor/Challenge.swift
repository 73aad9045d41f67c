import CSluice
public import SluiceMessages

/// Gets each challenge of a 401 or 407 response, in order. Throwing fails the transaction, even with
/// ``RetryRequestError``.
public protocol ChallengeInterceptor: Sendable {
  /// - Parameter response: the response that demands credentials, only for reading.
  func interceptChallenge(
    _ offer: ChallengeOffer, response: StageResponse, context: ResponseContext
  ) async throws -> ChallengeDecision
}

extension ChallengeOffer {
  /// nil for text that is no challenge (RFC 9110 §11.6.1).
  init?(_ challenge: sluice_challenge) {
    let text = "\(String(challenge.scheme)) \(String(challenge.parameters))"
    guard let parsed = Challenge.list(Array(text.utf8))?.first else { return nil }
    self.init(status: Int(challenge.status), challenge: parsed, answered: Int(challenge.answered))
  }
}
