package import SluiceMessages

/// The default handling of demands for credentials: answers with the credentials that the engine has. Called on the
/// loop.
package protocol ChallengeResponder: AnyObject, Sendable {
  /// Whether the responder has credentials for an answer. Called before the response is examined.
  func hasCredentials(status: Int, for exchange: Exchange) -> Bool

  /// The value of the credentials header for the next hop, if one of the challenges can be answered; nil keeps the
  /// response. It is also nil if the same credentials were refused before.
  func answer(_ challenges: [Challenge], status: Int, on exchange: Exchange) -> String?

  /// Called when a redirect within the origin is followed. If the request has an earlier answer of this responder,
  /// replaces it by a new answer. `exchange` still has the request and response of the previous hop.
  func renew(_ request: inout Request, on exchange: Exchange)

  /// Whether the responder has credentials that it sends only as the answer to a challenge. Such a request is sent
  /// without its body at first if the body can be sent only once.
  func awaitsChallenge(for exchange: Exchange) -> Bool
}
