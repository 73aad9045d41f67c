import SluiceMessages
import SluicePlugin

/// The request for a token to the token endpoint.
struct GrantRequest: Sendable {
  let url: EndpointURL
  let grant: OAuthConfiguration.Grant
  let clientID: String
  let clientSecret: String?
  let authentication: OAuthConfiguration.ClientAuthentication
  let scope: String?
  let parameters: [String: String]
  let timeout: Duration

  /// Parameters that the configuration must not set.
  static let reserved: Set = ["grant_type", "client_id", "client_secret", "refresh_token", "scope"]
  /// The limit for an answer. A valid answer contains only a few tokens and is shorter.
  private static let maximumAnswerBytes = 65_536

  /// - Parameter refreshToken: the current refresh token, for the grant that needs it.
  func call(_ refreshToken: String?) -> CallRequest {
    var call = CallRequest(
      method: "POST", url: url.string,
      headers: ["content-type": "application/x-www-form-urlencoded", "accept": "application/json"],
      timeout: timeout, maximumResponseBytes: Self.maximumAnswerBytes)
    var fields = [(name: "grant_type", value: grant.rawValue)]
    if grant == .refreshToken, let refreshToken { fields.append(("refresh_token", refreshToken)) }
    if let scope { fields.append(("scope", scope)) }
    for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { fields.append((name, value)) }
    if let clientSecret, authentication == .basic {
      call.headers.append(("authorization", basic(clientSecret)))
    } else {
      fields.append(("client_id", clientID))
      if let clientSecret { fields.append(("client_secret", clientSecret)) }
    }
    call.body = FormBody.encode(fields)
    return call
  }

  /// Both parts are first encoded as in a form (RFC 6749 §2.3.1).
  private func basic(_ secret: String) -> String {
    let pair = FormBody.encode(clientID) + [UInt8(ascii: ":")] + FormBody.encode(secret)
    return "Basic " + String(decoding: Base64.encode(pair), as: UTF8.self)
  }
}
