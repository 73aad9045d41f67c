package import SluiceMessages
package import SluicePipeline

extension Credentials {
  /// The answer of a stage or a delegate to one challenge; nil in the same cases as ``answer(to:status:on:)``.
  @Sendable package static func answer(
    _ user: [UInt8], _ password: [UInt8], _ offer: ChallengeOffer, _ exchange: Exchange
  ) -> String? {
    Credentials(user: user, password: password).answer(to: [offer.challenge], status: offer.status, on: exchange)
  }

  /// The value of the credentials header that answers one of the challenges. Digest is preferred to Basic. Nil if no
  /// challenge can be answered, or if an earlier answer with this user and password was refused in this attempt, unless
  /// the server says that only the nonce was too old.
  func answer(to challenges: [Challenge], status: Int, on exchange: Exchange) -> String? {
    let before = CredentialSession.of(exchange, status).flatMap { $0.isFor(exchange) ? $0 : nil }
    let isRefused = before?.isRefused(self, exchange.requestForms.native.url) == true
    for challenge in challenges {
      guard let digest = DigestChallenge(challenge) else { continue }
      if isRefused || before?.hasAnswered(digest, self) == true, !digest.isStale { continue }
      let session = CredentialSession(self, digest: digest, status: status, after: before, on: exchange)
      if let value = session.answer(exchange.requestForms.native) {
        session.keep(on: exchange)
        return value
      }
    }
    // Basic cannot express a user with a colon (RFC 7617 §2).
    guard challenges.contains(where: { $0.isScheme("basic") }), !isRefused, before?.isBasic(self) != true,
      !user.contains(UInt8(ascii: ":"))
    else { return nil }
    let session = CredentialSession(self, digest: nil, status: status, after: before, on: exchange)
    session.value = basic
    session.keep(on: exchange)
    return basic
  }
}
