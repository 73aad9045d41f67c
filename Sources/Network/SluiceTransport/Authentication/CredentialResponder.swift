package import SluiceMessages
package import SluicePipeline

/// Answers challenges for the engine, with the user and password of the URL.
package final class CredentialResponder: ChallengeResponder {
  private let policy: CredentialPolicy

  package init(_ policy: CredentialPolicy) { self.policy = policy }

  /// The credentials of a proxy are in the proxy's URL, which the transport uses.
  package func hasCredentials(status: Int, for exchange: Exchange) -> Bool {
    status == 401 && exchange.requestForms.native.url.userInfo != nil
  }

  package func answer(_ challenges: [Challenge], status: Int, on exchange: Exchange) -> String? {
    guard hasCredentials(status: status, for: exchange), let credentials = exchange.requestForms.native.url.credentials
    else { return nil }
    // If a stage or the caller has set the credentials header, the server has refused these credentials. The engine
    // then does not answer.
    guard !isForeign(exchange) else { return nil }
    // If the policy is not to send credentials only when asked, Basic was sent without a challenge, and the server has
    // refused it.
    let usable = policy == .whenAsked ? challenges : challenges.filter { $0.isScheme("digest") }
    return credentials.answer(to: usable, status: status, on: exchange)
  }

  package func renew(_ request: inout Request, on exchange: Exchange) {
    CredentialSession.of(exchange, 401)?.renew(&request, on: exchange)
  }

  /// With ``CredentialPolicy/whenAsked``, nobody knows whether the server asks at all.
  package func awaitsChallenge(for exchange: Exchange) -> Bool {
    policy == .digest && hasCredentials(status: 401, for: exchange)
      && !exchange.requestForms.native.headers.contains("authorization")
  }

  private func isForeign(_ exchange: Exchange) -> Bool {
    guard let value = exchange.requestForms.native.headers["authorization"] else { return false }
    return CredentialSession.of(exchange, 401)?.value != value
  }
}
