import SluiceJSON
import SluiceMessages

/// The response to a plugin's call-outs during a check.
struct CallOutAnswer {
  let response: Response

  /// - Parameter payload: the payload of the trial; its member `callOutAnswer` is a response document.
  init(_ payload: JSONValue?) {
    let given = payload?["callOutAnswer"].flatMap { try? ResponseDocument.read($0, rules: .line) }
    response = given ?? Self.canned
  }

  /// A response that most plugins can use. Its JSON object is a token response (RFC 6749 section 5.1), says that the
  /// token is active (RFC 7662), and has an empty list of keys (RFC 7517).
  private static let canned = Response(
    status: 200, headers: ["content-type": "application/json", "cache-control": "no-store"],
    body: .text(
      #"{"access_token": "sluice-trial-token", "token_type": "Bearer", "expires_in": 3600, "active": true, "keys": []}"#
    ))
}
