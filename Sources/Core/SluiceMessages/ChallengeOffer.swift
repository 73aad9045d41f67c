/// A demand for credentials, as stages and delegates get it (RFC 9110 §11).
public struct ChallengeOffer: Sendable, Hashable {
  /// 401 from the server, 407 from a proxy.
  public let status: Int
  /// The challenge to decide about. If the response has several challenges, they are offered one after the other.
  public let challenge: Challenge
  /// The number of challenges that this attempt has already answered.
  public let answered: Int

  package init(status: Int, challenge: Challenge, answered: Int) {
    self.status = status
    self.challenge = challenge
    self.answered = answered
  }

  /// The header that carries the answer.
  package var credentialsHeader: String { status == 407 ? "Proxy-Authorization" : "Authorization" }
}

/// The decision about a challenge.
public enum ChallengeDecision: Sendable, Hashable {
  /// Leave the challenge to the next stage or delegate. If all of them leave it, the engine uses the user and password
  /// of the URL, or keeps the response.
  case performDefaultHandling
  /// Send again with this value of the credentials header, for instance `Bearer …`.
  case answer(String)
  /// Send again with user and password, by the scheme of the challenge: Basic or Digest. If the challenge has another
  /// scheme, or if this user and password were already refused, the default handling follows.
  case credentials(user: String, password: String)
  /// End the transaction with the code `cancelled`.
  case cancel
}
