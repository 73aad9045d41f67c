package import SluiceMessages

/// The default handling of demands for credentials: answers with the credentials that the engine has. Called on the
/// loop.
package protocol ChallengeResponder: AnyObject, Sendable {
  /// Whether it has anything that it could answer with. Asked before the response is looked at.
  func hasCredentials(status: Int, for exchange: Exchange) -> Bool

  /// The value of the credentials header for the next hop, if one of the challenges can be answered; nil keeps the
  /// response, also if the same credentials were refused before.
  func answer(_ challenges: [Challenge], status: Int, on exchange: Exchange) -> String?

  /// Puts a new answer in place of one of this responder's, in the request that is about to follow a redirect within the
  /// origin. `exchange` still has the request and response of the hop before.
  func renew(_ request: inout Request, on exchange: Exchange)
}
