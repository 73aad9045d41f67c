import SluicePlugin

/// The `config` of the plugin.
struct OAuthConfiguration: Decodable, Sendable {
  enum Grant: String, Decodable, Sendable {
    /// The plugin gets tokens with the client's id and secret (RFC 6749 §4.4).
    case clientCredentials = "client_credentials"
    /// The plugin gets tokens with a refresh token (RFC 6749 §6).
    case refreshToken = "refresh_token"
  }

  enum ClientAuthentication: String, Decodable, Sendable {
    /// A Basic header, RFC 6749 §2.3.1.
    case basic
    /// `client_id` and `client_secret` in the body.
    case body
  }

  struct Window: Decodable, Sendable {
    var refreshes: Int
    var duration: String
  }

  var tokenEndpoint: String
  var grant: Grant
  var clientID: String
  /// Nil for a public client, which sends its id in the body.
  var clientSecret: String?
  var clientAuthentication: ClientAuthentication
  var refreshToken: String?
  /// The first token; if there is none, the plugin gets one for the first request.
  var accessToken: String?
  var scope: String?
  /// Further parameters for the token endpoint, such as `audience`.
  var parameters: [String: String]
  var hosts: [String]
  var header: String
  var scheme: String
  var overwrite: Bool
  /// How long before its expiry a token is replaced.
  var leeway: String
  /// The time limit for one request to the token endpoint.
  var timeout: String
  var window: Window
  /// Whether the endpoint may use `http` although it is on another machine.
  var allowCleartext: Bool

  static let defaults: JSONValue = [
    "grant": "client_credentials", "clientAuthentication": "basic", "parameters": [:], "header": "Authorization",
    "scheme": "Bearer", "overwrite": false, "leeway": "30s", "timeout": "10s",
    "window": ["refreshes": 5, "duration": "60s"], "allowCleartext": false,
  ]

  static let schema = """
    {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false,
     "required": ["tokenEndpoint", "clientID", "hosts"],
     "properties": {
      "tokenEndpoint": {"type": "string", "minLength": 1},
      "grant": {"enum": ["client_credentials", "refresh_token"]},
      "clientID": {"type": "string", "minLength": 1},
      "clientSecret": {"type": "string", "minLength": 1},
      "clientAuthentication": {"enum": ["basic", "body"]},
      "refreshToken": {"type": "string", "minLength": 1},
      "accessToken": {"type": "string", "minLength": 1},
      "scope": {"type": "string", "minLength": 1},
      "parameters": {"type": "object", "additionalProperties": {"type": "string"}},
      "hosts": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
      "header": {"type": "string", "minLength": 1},
      "scheme": {"type": "string"},
      "overwrite": {"type": "boolean"},
      "leeway": {"type": "string"},
      "timeout": {"type": "string"},
      "window": {"type": "object", "additionalProperties": false, "required": ["refreshes", "duration"],
                 "properties": {"refreshes": {"type": "integer", "minimum": 1, "maximum": 1000},
                                "duration": {"type": "string"}}},
      "allowCleartext": {"type": "boolean"}}}
    """
}

extension OAuthConfiguration {
  func settings() throws(StageFailure) -> TokenBook.Settings {
    guard (1...1000).contains(window.refreshes) else {
      throw StageFailure(message: "config key \"window.refreshes\": expected a number from 1 to 1000")
    }
    return TokenBook.Settings(
      accessToken: try secret(accessToken, "accessToken"), refreshToken: try secret(refreshToken, "refreshToken"),
      leeway: try duration(leeway, "leeway", mayBeNone: true),
      window: RefreshWindow(limit: window.refreshes, duration: try duration(window.duration, "window.duration")))
  }

  func grantRequest() throws(StageFailure) -> GrantRequest {
    guard grant == .clientCredentials || refreshToken != nil else {
      throw StageFailure(message: "config key \"refreshToken\": the grant \"refresh_token\" needs a refresh token")
    }
    guard grant == .refreshToken || clientSecret != nil else {
      throw StageFailure(message: "config key \"clientSecret\": the grant \"client_credentials\" needs a client secret")
    }
    for name in parameters.keys where GrantRequest.reserved.contains(name) {
      throw StageFailure(message: "config key \"parameters.\(name)\": the plugin sets that parameter itself")
    }
    return GrantRequest(
      url: try EndpointURL(tokenEndpoint, allowsCleartext: allowCleartext), grant: grant,
      clientID: try secret(clientID, "clientID") ?? "", clientSecret: try secret(clientSecret, "clientSecret"),
      authentication: clientAuthentication, scope: scope, parameters: parameters,
      timeout: try duration(timeout, "timeout"))
  }

  private func duration(
    _ text: String, _ key: String, mayBeNone: Bool = false
  ) throws(StageFailure) -> Duration {
    guard let duration = DurationText.duration(text), mayBeNone || duration > .zero else {
      throw StageFailure(message: "config key \"\(key)\": expected a number with ms, s, m or h, found \"\(text)\"")
    }
    return duration
  }

  /// Checks that a secret is printable ASCII (RFC 6749 appendix A); an error does not show the value.
  private func secret(_ value: String?, _ key: String) throws(StageFailure) -> String? {
    guard let value else { return nil }
    guard value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
      throw StageFailure(
        message:
          "config key \"\(key)\": expected printable ASCII only; the value contains a line break or another character")
    }
    return value
  }
}
