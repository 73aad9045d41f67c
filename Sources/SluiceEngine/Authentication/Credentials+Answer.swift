import SluiceJSON
import SluiceMessages
import SluicePipeline

extension Credentials {
  /// The answer of a stage or a delegate to one challenge; nil in the same cases as ``answer(to:status:on:)``.
  @Sendable static func answer(
    _ user: [UInt8], _ password: [UInt8], _ offer: ChallengeOffer, _ exchange: Exchange
  ) -> String? {
    Credentials(user: user, password: password).answer(to: [offer.challenge], status: offer.status, on: exchange)
  }

  /// The value of the credentials header that answers one of the challenges. Digest is preferred to Basic. Nil if no
  /// challenge can be answered, or if an earlier answer in this attempt was refused.
  func answer(to challenges: [Challenge], status: Int, on exchange: Exchange) -> String? {
    let before = CredentialSession.of(exchange).flatMap { $0.isFor(exchange, status) ? $0 : nil }
    for challenge in challenges {
      guard let digest = DigestChallenge(challenge) else { continue }
      if let before, before.hasAnswered(digest, self), !digest.isStale { continue }
      let session = CredentialSession(self, digest: digest, status: status, on: exchange)
      if let value = session.answer(exchange.nativeRequest) {
        session.keep(on: exchange)
        return value
      }
    }
    // Basic cannot express a user with a colon (RFC 7617 §2).
    guard challenges.contains(where: { $0.isScheme("basic") }), before?.isBasic(self) != true,
      !user.contains(UInt8(ascii: ":"))
    else { return nil }
    let session = CredentialSession(self, digest: nil, status: status, on: exchange)
    session.value = basic
    session.keep(on: exchange)
    return basic
  }
}
