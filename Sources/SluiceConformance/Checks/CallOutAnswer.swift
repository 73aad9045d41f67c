import SluiceJSON
import SluiceMessages

/// What a plugin gets to requests of its own while it is checked.
struct CallOutAnswer {
  let response: Response

  /// - Parameter payload: of the trial; its member `callOutAnswer` is a response document.
  init(_ payload: JSONValue?) {
    let given = payload?["callOutAnswer"].flatMap { try? ResponseDocument.read($0, rules: .line) }
    response = given ?? Self.canned
  }

  /// A token (RFC 6749 section 5.1), an active one (RFC 7662), an empty list of keys (RFC 7517): a JSON object that is of use to most.
  private static let canned = Response(
    status: 200, headers: ["content-type": "application/json", "cache-control": "no-store"],
    body: .text(
      #"{"access_token": "sluice-trial-token", "token_type": "Bearer", "expires_in": 3600, "active": true, "keys": []}"#
    ))
}
