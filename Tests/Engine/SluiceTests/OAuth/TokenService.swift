import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A token endpoint and an API that accepts its tokens, both real servers, and engines with oauth-refresh that use
/// both.
///
/// The endpoint gives the access tokens `t1`, `t2` …, and for the grant `refreshToken` also the refresh tokens `r1`,
/// `r2` …. The API accepts the newest access token.
final class TokenService: Sendable {
  enum Grant: String, Sendable, CaseIterable {
    case clientCredentials = "client_credentials", refreshToken = "refresh_token"
  }

  typealias Endpoint = @Sendable (_ number: Int, _ request: ServerRequest) -> ServerResponse?
  typealias API = @Sendable (_ request: ServerRequest, _ isAccepted: Bool) -> ServerResponse?

  static let secret = "s3cr:t &x"
  static let firstRefreshToken = "r0-first"

  let endpoint: LoopbackServer
  let api: LoopbackServer
  /// The token that the API accepts, or nil if it accepts no token.
  let accepted: Watched<String?>
  let log = Watched<[String]>([])
  private let grant: Grant

  /// - Parameters:
  ///   - expiresIn: the lifetime that the endpoint gives each token, or nil to give none.
  ///   - acceptsNew: whether the API accepts the tokens that the endpoint gives.
  ///   - endpoint: returns a response that replaces the endpoint's normal one, or nil.
  ///   - api: returns a response that replaces the API's normal one, or nil.
  init(
    _ grant: Grant = .clientCredentials, accepting first: String? = nil, expiresIn: Int? = 3600,
    acceptsNew: Bool = true, endpoint: @escaping Endpoint = { _, _ in nil }, api: @escaping API = { _, _ in nil }
  ) throws {
    let accepted = Watched<String?>(first)
    let number = Watched(0)
    self.accepted = accepted
    self.grant = grant
    self.endpoint = try LoopbackServer { request in
      let number = number.update { number in
        number += 1
        return number
      }
      if let answer = endpoint(number, request) { return answer }
      if acceptsNew { accepted.update { $0 = "t\(number)" } }
      return Self.answer(number, expiresIn, rotates: grant == .refreshToken)
    }
    self.api = try LoopbackServer { request in
      let token = request.value(of: "authorization")
      let isAccepted = accepted.value.map { token == "Bearer \($0)" } ?? false
      return api(request, isAccepted) ?? ServerResponse(status: isAccepted ? 200 : 401)
    }
  }

  static func answer(_ number: Int, _ expiresIn: Int?, rotates: Bool = false) -> ServerResponse {
    let document: JSONValue = ["access_token": JSONValue("t\(number)"), "token_type": "Bearer"]
    if let expiresIn { document["expires_in"] = JSONValue(Int64(expiresIn)) }
    if rotates { document["refresh_token"] = JSONValue("r\(number)") }
    return .text((try? document.serializedText()) ?? "", type: "application/json")
  }

  static func refusal(_ error: String, status: Int = 400) -> ServerResponse {
    .text(#"{"error": "\#(error)", "error_description": "no such client"}"#, status: status, type: "application/json")
  }

  /// Makes an engine whose plugin adds a token to requests to the API.
  ///
  /// - Parameters:
  ///   - token: the first access token, or nil if the plugin must fetch it.
  ///   - code: a stage in Swift that comes after the plugin.
  func engine(
    token: String? = nil, loops: Int = 1, config: JSONValue = [:], code: StageCode? = nil
  ) throws -> Engine {
    let settings: JSONValue = [
      "tokenEndpoint": JSONValue(endpoint.baseURL + "/token?tenant=hidden"), "grant": JSONValue(grant.rawValue),
      "clientID": "client", "clientSecret": JSONValue(Self.secret), "hosts": ["127.0.0.1"],
      // The timeout is longer than any wait of a test, so a slow machine does not cause a failure.
      "timeout": "10m",
    ]
    if grant == .refreshToken { settings["refreshToken"] = JSONValue(Self.firstRefreshToken) }
    if let token { settings["accessToken"] = JSONValue(token) }
    for (key, value) in config.members { settings[key] = value.isNull ? nil : value }
    let text = """
      {"plugins": {"oauth": {"library": "\(BuiltProducts.library("oauth-refresh"))",
                             "config": \(try settings.serializedText())}},
       "request": ["oauth"], "response": ["oauth"], "deadline": "10m", "transport": {"loops": \(loops), "timeout": "10m"}}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    if let code { configuration.addStage("code", code) }
    let log = self.log
    return try Engine(configuration) { line in log.update { $0.append(line.message) } }
  }

  func request(_ path: String = "/", _ headers: HeaderFields = [:]) throws -> Request {
    Request(url: try HTTPURL(api.baseURL + path), headers: headers)
  }

  /// Runs `count` transactions at once.
  func run(_ count: Int, on engine: Engine) async throws -> [TransactionResult] {
    let request = try request()
    return await withTaskGroup { group in
      for _ in 0..<count { group.addTask { await engine.transaction(request) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// The `authorization` headers that the API got, in order of arrival.
  var seen: [String?] { api.requests.map { $0.value(of: "authorization") } }

  /// The form parameters of each request to the endpoint.
  var forms: [[String: String]] {
    endpoint.requests.map { request in
      String(decoding: request.body, as: UTF8.self).split(separator: "&").reduce(into: [:]) { form, field in
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if let name = parts.first, let value = parts.last { form[String(name)] = String(value) }
      }
    }
  }

  func stop(_ engine: Engine) async {
    await engine.shutdown(drain: .zero)
    endpoint.stop()
    api.stop()
  }
}
