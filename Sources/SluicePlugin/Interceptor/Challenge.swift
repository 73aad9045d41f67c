import CSluice

/// A demand for credentials (RFC 9110 §11).
public struct Challenge: Hashable, Sendable {
  /// 401 from the server, 407 from a proxy.
  public let status: Int
  /// `Basic`, `Digest`, `Bearer` …, as the server writes it.
  public let scheme: String
  /// The text after the scheme, as sent.
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

/// The decision about a challenge.
public enum ChallengeDecision: Hashable, Sendable {
  /// Leave it to the next stage, and after the last stage to the default handling.
  case performDefaultHandling
  /// Send again with this value of the credentials header, for instance `Bearer …`.
  case answer(String)
}

/// Gets each challenge of a 401 or 407 response, in order. Throwing fails the transaction, even with
/// ``RetryRequestError``.
public protocol ChallengeInterceptor: Sendable {
  /// - Parameter response: the response that demands credentials, only for reading.
  func interceptChallenge(
    _ challenge: Challenge, response: Response, context: ResponseContext
  ) async throws -> ChallengeDecision
}
