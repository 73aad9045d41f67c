import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// What oauth-refresh sends to the token endpoint, what it reads from the response, and where it sends the token.
@Suite struct OAuthExchangeTests {
  @Test func `refresh tokens rotate: each refresh sends the newest refresh token`() async throws {
    let service = try TokenService(.refreshToken, expiresIn: 0)
    let engine = try service.engine()
    for _ in 0..<4 { _ = try await engine.perform(service.request()) }
    #expect(service.forms.map { $0["refresh_token"] } == [TokenService.firstRefreshToken, "r1", "r2", "r3"])
    #expect(service.forms.allSatisfy { $0["grant_type"] == "refresh_token" })
    await service.stop(engine)
  }

  @Test func `the refresh token stays if the endpoint does not send a new one`() async throws {
    let service = try TokenService(
      .refreshToken, expiresIn: 0, endpoint: { number, _ in TokenService.answer(number, 0) })
    let engine = try service.engine()
    for _ in 0..<3 { _ = try await engine.transaction(service.request()) }
    #expect(service.forms.count >= 3)
    #expect(service.forms.allSatisfy { $0["refresh_token"] == TokenService.firstRefreshToken })
    await service.stop(engine)
  }

  @Test func `the client authenticates by a Basic header, encoded as RFC 6749 says, or in the body`() async throws {
    for (mode, header, id) in [("basic", "Basic Y2xpZW50OnMzY3IlM0F0KyUyNng=", nil), ("body", nil, "client")] {
      let service = try TokenService()
      let engine = try service.engine(config: [
        "clientAuthentication": JSONValue(mode), "scope": "read write", "parameters": ["audience": "https://a/?b"],
      ])
      _ = try await engine.perform(service.request())
      let sent = try #require(service.endpoint.requests.first)
      let form = try #require(service.forms.first)
      #expect(sent.method == "POST")
      #expect(sent.value(of: "content-type") == "application/x-www-form-urlencoded")
      #expect(sent.value(of: "accept") == "application/json")
      #expect(sent.value(of: "authorization") == header)
      #expect(form["grant_type"] == "client_credentials")
      #expect(form["scope"] == "read+write")
      #expect(form["audience"] == "https%3A%2F%2Fa%2F%3Fb")
      #expect(form["client_id"] == id)
      #expect(form["client_secret"] == (id == nil ? nil : "s3cr%3At+%26x"))
      #expect(form["refresh_token"] == nil)
      await service.stop(engine)
    }
  }

  @Test func `a public client sends its client id in the body, and no secret`() async throws {
    let service = try TokenService(.refreshToken)
    let engine = try service.engine(config: ["clientSecret": .null])
    _ = try await engine.perform(service.request())
    #expect(service.endpoint.requests.first?.value(of: "authorization") == nil)
    #expect(service.forms.first?["client_id"] == "client")
    #expect(service.forms.first?["client_secret"] == nil)
    await service.stop(engine)
  }

  private static let malformed: [(name: String, body: String, says: String)] = [
    ("HTML", "<html><body>Sign in</body></html>", "not a JSON object"),
    ("nothing", "", "an empty body"),
    ("an array", "[]", "not a JSON object"),
    ("no access_token", #"{"token_type": "Bearer"}"#, "without \"access_token\""),
    ("an access_token that is no string", #"{"access_token": 7}"#, "without \"access_token\""),
    ("an empty access_token", #"{"access_token": ""}"#, "no token"),
    ("a line break in it", #"{"access_token": "a\r\nx-evil: 1"}"#, "no token"),
    ("another type of token", #"{"access_token": "secret-mac", "token_type": "mac"}"#, "token_type"),
    ("a number beyond a double", #"{"access_token": "secret-big", "expires_in": 1e400}"#, "a number that is too large"),
    ("a form", "access_token=secret-form&token_type=bearer", "42 bytes that are not a JSON object"),
    ("a lifetime in words", #"{"access_token": "secret-word", "expires_in": "soon"}"#, "expires_in"),
    ("a megabyte", String(repeating: " ", count: 1_048_576), "response_too_large"),
  ]

  @Test(arguments: malformed.indices)
  func `an invalid response fails the refresh, and the error says why without showing the response`(
    _ index: Int
  ) async throws {
    let (name, body, says) = Self.malformed[index]
    let service = try TokenService(endpoint: { _, _ in .text(body, type: "application/json") })
    let engine = try service.engine()
    let error = try #require(try await engine.transaction(service.request()).error, "\(name)")
    #expect(error.code == "token_refresh_failed", "\(name)")
    #expect(error.message.contains(says), "\(name): \(error.message)")
    #expect(!error.message.contains("secret-") && !error.message.contains("evil"), "\(name)")
    #expect(service.api.requestCount == 0)
    await service.stop(engine)
  }

  @Test func `a lifetime can be a string or a fraction, and the token type can be in any case`() async throws {
    for lifetime in [#""3600""#, "3600.5", "1e300", "123456789012345678901", "null"] {
      let body = #"{"access_token": "t1", "token_type": "bEARER", "expires_in": \#(lifetime)}"#
      let service = try TokenService(accepting: "t1", endpoint: { _, _ in .text(body, type: "application/json") })
      let engine = try service.engine()
      for _ in 0..<2 { _ = try await engine.perform(service.request()) }
      #expect(service.endpoint.requestCount == 1, "\(lifetime)")
      await service.stop(engine)
    }
  }

  @Test func `if the endpoint does not exist or redirects, the error says so`() async throws {
    let service = try TokenService(endpoint: { _, _ in
      ServerResponse(status: 302, headers: [HeaderLine("Location", "https://example.com/token")])
    })
    let engine = try service.engine()
    let redirect = try #require(try await engine.transaction(service.request()).error)
    #expect(redirect.message.contains("302; redirects are not followed"))
    await engine.shutdown()
    let away = try service.engine(config: ["tokenEndpoint": "https://nowhere.invalid/token"])
    let missing = try #require(try await away.transaction(service.request()).error)
    #expect(missing.message.contains("no token from https://nowhere.invalid/token: dns"))
    await service.stop(away)
  }

  @Test func `the token goes to the configured hosts only, marked as a secret`() async throws {
    let marks = Watched<[Bool]>([])
    let service = try TokenService()
    let code = StageCode(observing: { event in
      guard event.kind == .didIssue, let headers = event.exchange.issued?.headers else { return }
      let index = headers.indices.first { headers.name(at: $0).lowercased() == "authorization" }
      let isSecret = index.map { headers.marks(at: $0).contains(.sensitive) }
      if let isSecret { marks.update { $0.append(isSecret) } }
    })
    let engine = try service.engine(code: code)
    _ = try await engine.perform(service.request())
    let elsewhere = Request(url: try HTTPURL("http://localhost:\(service.api.port)/"))
    #expect(await engine.transaction(elsewhere).response?.status == 401)
    #expect(service.seen == ["Bearer t1", nil])
    #expect(marks.value == [true])
    await service.stop(engine)
  }

  /// The bodies of answers with the status 200, and what the error says.
  @Test(arguments: [
    (
      #"{"error": "bad_refresh_token", "error_description": "it has expired"}"#,
      "200 bad_refresh_token (it has expired)"
    ),
    (#"{"ok": false, "error": "invalid_auth"}"#, "200 invalid_auth"),
    (#"{"error": {"type": "OAuthException", "message": "no such app"}}"#, "200 OAuthException (no such app)"),
    (#"{"error": null}"#, "200, but without \"access_token\""),
    ("error=invalid_grant&error_description=The+token%20has expired", "200 invalid_grant (The token has expired)"),
    ("\u{FEFF}{\"error\": \"invalid_grant\"}", "200 invalid_grant"),
    (#"{"error": "invalid_grant", "number": 123456789012345678901}"#, "200 invalid_grant"),
    ("error_description=invalid", "200, but with 25 bytes that are not a JSON object"),
  ])
  func `an error in an answer with status 200 is named`(_ body: String, _ words: String) async throws {
    let service = try TokenService(
      .refreshToken, endpoint: { _, _ in .text(body, status: 200, type: "application/json") })
    let engine = try service.engine()
    let result = try await engine.transaction(service.request())
    await service.stop(engine)
    #expect(result.error?.code == "token_refresh_failed")
    #expect(result.error?.message.contains(words) == true, "\(String(describing: result.error))")
  }

  @Test func `an error behind a byte order mark or in a form is named, whatever the status is`() async throws {
    for body in ["\u{FEFF}{\"error\": \"invalid_grant\"}", "error=invalid_grant"] {
      let service = try TokenService(.refreshToken, endpoint: { _, _ in .text(body, status: 400) })
      let engine = try service.engine()
      let result = try await engine.transaction(service.request())
      await service.stop(engine)
      #expect(result.error?.message.contains("400 invalid_grant") == true, "\(String(describing: result.error))")
    }
  }

  @Test func `log and errors contain no secret`() async throws {
    // The error description in the second response repeats the secrets of the request.
    let service = try TokenService(
      .refreshToken, expiresIn: 0,
      endpoint: { number, request in
        guard number > 1 else { return nil }
        let said = number == 2 ? "r1 is unknown" : TokenService.secret
        return .text(
          #"{"error": "invalid_grant", "error_description": "\#(said)"}"#, status: 400, type: "application/json")
      })
    let engine = try service.engine(config: ["clientAuthentication": "body"])
    var texts: [String] = []
    for _ in 0..<3 {
      let result = try await engine.transaction(service.request())
      texts += [result.error?.message].compactMap(\.self)
    }
    await service.stop(engine)
    texts += service.log.value
    #expect(texts.contains { $0.contains("400 invalid_grant") })
    for secret in [TokenService.secret, TokenService.firstRefreshToken, "r1", "t1", "hidden"] {
      #expect(!texts.contains { $0.contains(secret) }, "\(secret): \(texts)")
    }
  }

  private static let refused: [(config: JSONValue, says: String)] = [
    (["hosts": []], "hosts"), (["hosts": ["a/b"]], "hosts[0]"), (["hosts": ["bücher.example"]], "xn--"),
    (["grant": "password"], "grant"),
    (["tokenEndpoint": "http://auth.example.com/token"], "clear text"),
    (["tokenEndpoint": "http://localhost.example.com/token"], "clear text"),
    (["tokenEndpoint": "http://[::2]/token"], "clear text"), (["tokenEndpoint": "/token"], "tokenEndpoint"),
    (["tokenEndpoint": "https://bücher.example/token"], "A-labels"),
    (["tokenEndpoint": "https://a/token#x"], "tokenEndpoint"), (["clientSecret": .null], "clientSecret"),
    (["clientSecret": "a\nb"], "clientSecret"), (["leeway": "soon"], "leeway"), (["timeout": "0s"], "timeout"),
    (["window": ["refreshes": 0, "duration": "1s"]], "window"), (["header": "a b"], "header"),
    (["parameters": ["client_id": "x"]], "parameters"), (["tokn": "x"], "tokn"),
  ]

  @Test(arguments: ["localhost", "auth.localhost", "127.1.2.3", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]"])
  func `an endpoint on this machine may use http`(_ host: String) async throws {
    let service = try TokenService()
    let engine = try service.engine(config: ["tokenEndpoint": JSONValue("http://\(host):1/token")])
    await service.stop(engine)
  }

  @Test(arguments: refused.indices)
  func `a configuration that cannot work is refused, and the error names the key`(_ index: Int) async throws {
    let (config, says) = Self.refused[index]
    let service = try TokenService()
    let error = #expect(throws: EngineError.self) { try service.engine(config: config) }
    #expect("\(error.map { "\($0)" } ?? "")".contains(says), "\(String(describing: error))")
    service.endpoint.stop()
    service.api.stop()
  }
}
