import CSluice

/// A demand for credentials (RFC 9110 §11).
public struct Challenge: Hashable, Sendable {
  /// 401 from the server, 407 from a proxy.
  public let status: Int
  /// `Basic`, `Digest`, `Bearer` …, as the server spells it.
  public let scheme: String
  /// What follows the scheme, as sent.
  public let parameters: String
  /// How many challenges this attempt has answered already.
  public let answered: Int

  init(_ challenge: sluice_challenge) {
    status = Int(challenge.status)
    scheme = String(challenge.scheme)
    parameters = String(challenge.parameters)
    answered = Int(challenge.answered)
  }

  /// The header that carries the answer.
  public var credentialsHeader: String { status == 407 ? "Proxy-Authorization" : "Authorization" }
}

/// What becomes of a challenge.
public enum ChallengeDecision: Hashable, Sendable {
  /// Leave it to the next stage, and at the end to the default handling.
  case performDefaultHandling
  /// Send again with this value of the credentials header, for instance `Bearer …`.
  case answer(String)
}

/// Is offered each challenge of a 401 or 407 response, in order. Throwing fails the transaction; ``RetryRequestError``
/// does too here.
public protocol ChallengeInterceptor: Sendable {
  /// - Parameter response: the response that demands credentials, for reading.
  func interceptChallenge(
    _ challenge: Challenge, response: Response, context: ResponseContext
  ) async throws -> ChallengeDecision
}
