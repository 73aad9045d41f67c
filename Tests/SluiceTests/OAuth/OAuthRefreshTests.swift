import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import Testing

/// The shipped plugin oauth-refresh in a real engine, against a real token endpoint.
@Suite struct OAuthRefreshTests {
  @Test func `D4: a 401 of the first attempt gets a new token, and the request is sent again with it`() async throws {
    let service = try TokenService()
    let engine = try service.engine(token: "old")
    let result = try await engine.transaction(service.request())
    #expect(result.response?.status == 200)
    #expect(result.attempts == 2)
    #expect(service.seen == ["Bearer old", "Bearer t1"])
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test func `D4: 200 concurrent 401s make one refresh, and all go on with the new token`() async throws {
    let service = try TokenService()
    let engine = try service.engine(token: "old", loops: 4)
    service.api.hold()
    async let results = service.run(200, on: engine)
    try await service.api.waitForHeld(200)
    service.api.release()
    let statuses = try await results.map { $0.response?.status }
    #expect(statuses == Array(repeating: 200, count: 200))
    #expect(service.endpoint.requestCount == 1)
    #expect(service.api.requestCount == 400)
    await service.stop(engine)
  }

  @Test func `D4: a failed refresh fails all that waited, once, with endpoint and status and without secrets`()
    async throws
  {
    let service = try TokenService(endpoint: { _, _ in TokenService.refusal("invalid_client", status: 401) })
    let engine = try service.engine(token: "old", loops: 4)
    service.api.hold()
    async let results = service.run(200, on: engine)
    try await service.api.waitForHeld(200)
    service.api.release()
    let errors = try await results.map(\.error)
    #expect(errors.allSatisfy { $0?.code == "token_refresh_failed" && $0?.stage == "oauth" })
    let message = try #require(errors.first??.message)
    #expect(message.contains("no token from \(service.endpoint.baseURL)/token: 401 invalid_client (no such client)"))
    #expect(!message.contains("hidden") && !message.contains(TokenService.secret))
    #expect(service.endpoint.requestCount == 1)
    #expect(service.api.requestCount == 200)
    await service.stop(engine)
  }

  @Test func `D4: a request that begins after a failed refresh may try again`() async throws {
    let service = try TokenService(endpoint: { number, _ in number == 1 ? ServerResponse(status: 503) : nil })
    let engine = try service.engine(token: "old")
    #expect(try await engine.transaction(service.request()).error?.code == "token_refresh_failed")
    #expect(try await engine.transaction(service.request()).response?.status == 200)
    #expect(service.seen == ["Bearer old", "Bearer t2"])
    await service.stop(engine)
  }

  @Test func `D4: without a token the first requests wait for one, over all loops`() async throws {
    let service = try TokenService()
    let engine = try service.engine(loops: 4)
    service.endpoint.hold()
    async let results = service.run(100, on: engine)
    try await service.endpoint.waitForHeld(1)
    service.endpoint.release()
    let ends = try await results
    #expect(ends.compactMap(\.error) == [])
    #expect(ends.map { $0.response?.status } == Array(repeating: 200, count: 100))
    #expect(service.endpoint.requestCount == 1)
    #expect(Set(service.seen) == ["Bearer t1"])
    await service.stop(engine)
  }

  @Test func `D4: an expired token is replaced before it is used`() async throws {
    let service = try TokenService(expiresIn: 0)
    let engine = try service.engine()
    for _ in 0..<3 { _ = try await engine.execute(service.request()) }
    #expect(service.seen == ["Bearer t1", "Bearer t2", "Bearer t3"])
    await service.stop(engine)
  }

  @Test func `D4: a token is replaced within the leeway before it expires, without a 401`() async throws {
    let service = try TokenService(expiresIn: 2)
    let engine = try service.engine(config: ["leeway": "1h", "window": ["refreshes": 1000, "duration": "1h"]])
    // The leeway is cut to half the lifetime, so that this takes a second, on a machine of any speed.
    while service.endpoint.requestCount < 2 {
      let result = try await engine.transaction(service.request())
      #expect(result.attempts == 1)
      guard result.response?.status == 200 else { break }
    }
    #expect(service.seen.allSatisfy { $0 == "Bearer t1" || $0 == "Bearer t2" })
    #expect(service.endpoint.requestCount == 2)
    await service.stop(engine)
  }

  @Test func `D4: a token without expires_in is good until it is refused`() async throws {
    let service = try TokenService(expiresIn: nil)
    let engine = try service.engine()
    for _ in 0..<5 { _ = try await engine.execute(service.request()) }
    #expect(service.endpoint.requestCount == 1)
    service.accepted.update { $0 = "gone" }
    _ = try await engine.execute(service.request())
    #expect(service.endpoint.requestCount == 2)
    await service.stop(engine)
  }

  @Test func `D4: an expired token is not used where its refresh fails`() async throws {
    let service = try TokenService(expiresIn: 0, endpoint: { number, _ in number == 2 ? .hangUp : nil })
    let engine = try service.engine()
    _ = try await engine.execute(service.request())
    #expect(try await engine.transaction(service.request()).error?.code == "token_refresh_failed")
    #expect(service.api.requestCount == 1)
    await service.stop(engine)
  }

  @Test func `D4: where a refresh before expiry fails, a token that is still good is used on`() async throws {
    let service = try TokenService(expiresIn: 4, endpoint: { number, _ in number > 1 ? .hangUp : nil })
    let engine = try service.engine(config: ["leeway": "1h"])
    let begin = ContinuousClock.now
    while service.endpoint.requestCount < 2 {
      let result = try await engine.transaction(service.request())
      // A machine that stalls for as long as the token lives shows nothing here.
      guard ContinuousClock.now - begin < .seconds(4) else { break }
      #expect(result.response?.status == 200)
    }
    #expect(Set(service.seen) == ["Bearer t1"])
    await service.stop(engine)
  }

  @Test func `D4: a caller who gives up does not take the refresh from the others`() async throws {
    let service = try TokenService()
    let engine = try service.engine(token: "old", loops: 2)
    service.endpoint.hold()
    let cancellation = Cancellation()
    let first = Watched<TransactionResult?>(nil)
    engine.submit(try service.request(), cancellation: cancellation) { end in first.update { $0 = end } }
    try await service.endpoint.waitForHeld(1)
    async let others = service.run(20, on: engine)
    cancellation.cancel()
    #expect(try await first.wait { $0 != nil }?.error?.code == "cancelled")
    service.endpoint.release()
    let statuses = try await others.map { $0.response?.status }
    #expect(statuses == Array(repeating: 200, count: 20))
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test func `D4: a slow endpoint costs a transaction no more than its deadline`() async throws {
    let service = try TokenService()
    let engine = try service.engine(token: "old")
    service.endpoint.hold()
    var request = try service.request()
    request.timeout = .milliseconds(200)
    #expect(await engine.transaction(request).error?.code == "deadline")
    await service.stop(engine)
  }

  @Test func `D4: the endpoint's own timeout fails the refresh`() async throws {
    let service = try TokenService()
    let engine = try service.engine(token: "old", config: ["timeout": "50ms"])
    service.endpoint.hold()
    let error = try #require(try await engine.transaction(service.request()).error)
    #expect(error.code == "token_refresh_failed")
    #expect(error.message.contains("timeout"))
    await service.stop(engine)
  }

  @Test func `D4: a 401 to a token that was replaced meanwhile is sent again without a refresh`() async throws {
    let held = Watched<[DeferredResponse]>([])
    let service = try TokenService(api: { request, isAccepted in
      guard request.path == "/slow", !isAccepted else { return nil }
      return .deferred { answer in held.update { $0.append(answer) } }
    })
    let engine = try service.engine(token: "old")
    let request = try service.request("/slow")
    async let slow = engine.transaction(request)
    try await held.wait { $0.count == 1 }
    #expect(try await engine.transaction(service.request("/fast")).response?.status == 200)
    for answer in held.value { answer.complete(with: ServerResponse(status: 401)) }
    let result = await slow
    #expect(result.response?.status == 200)
    #expect(result.attempts == 2)
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test func `D4: a 401 of the second attempt is the caller's, and starts no refresh`() async throws {
    let service = try TokenService(acceptsNew: false)
    let engine = try service.engine(token: "old")
    let result = try await engine.transaction(service.request())
    #expect(result.response?.status == 401)
    #expect(result.attempts == 2)
    #expect(service.seen == ["Bearer old", "Bearer t1"])
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test func `D4: endless 401s end: past the window they are passed on, with one line in the log`() async throws {
    let service = try TokenService(acceptsNew: false)
    let engine = try service.engine(token: "old", config: ["window": ["refreshes": 3, "duration": "1h"]])
    for _ in 0..<20 {
      let result = try await engine.transaction(service.request())
      #expect(result.response?.status == 401)
    }
    #expect(service.endpoint.requestCount == 3)
    // Two attempts while the window lets refreshes through, then one.
    #expect(service.api.requestCount == 23)
    let lines = service.log.value.filter { $0.contains("a 401 is passed on") }
    #expect(lines.count == 1, "\(service.log.value)")
    #expect(lines.first?.contains("3 refreshes") == true)
    await service.stop(engine)
  }

  @Test func `D4: where no token was ever given, a full window fails requests at once`() async throws {
    let service = try TokenService(endpoint: { _, _ in ServerResponse(status: 500) })
    let engine = try service.engine(config: ["window": ["refreshes": 2, "duration": "1h"]])
    for _ in 0..<6 {
      #expect(try await engine.transaction(service.request()).error?.code == "token_refresh_failed")
    }
    #expect(service.endpoint.requestCount == 2)
    #expect(service.api.requestCount == 0)
    await service.stop(engine)
  }

  @Test func `D4: refresh tokens rotate: each refresh sends the newest`() async throws {
    let service = try TokenService(.refreshToken, expiresIn: 0)
    let engine = try service.engine()
    for _ in 0..<4 { _ = try await engine.execute(service.request()) }
    #expect(service.forms.map { $0["refresh_token"] } == [TokenService.firstRefreshToken, "r1", "r2", "r3"])
    #expect(service.forms.allSatisfy { $0["grant_type"] == "refresh_token" })
    await service.stop(engine)
  }

  @Test func `D4: a refresh token stays where the endpoint gives no other`() async throws {
    let service = try TokenService(
      .refreshToken, expiresIn: 0, endpoint: { number, _ in TokenService.answer(number, 0) })
    let engine = try service.engine()
    for _ in 0..<3 { _ = try await engine.transaction(service.request()) }
    #expect(service.forms.count >= 3)
    #expect(service.forms.allSatisfy { $0["refresh_token"] == TokenService.firstRefreshToken })
    await service.stop(engine)
  }

  @Test func `D4: the client authenticates by a Basic header, encoded as RFC 6749 says, or in the body`() async throws {
    for (mode, header, id) in [("basic", "Basic Y2xpZW50OnMzY3IlM0F0KyUyNng=", nil), ("body", nil, "client")] {
      let service = try TokenService()
      let engine = try service.engine(config: [
        "clientAuthentication": JSONValue(mode), "scope": "read write", "parameters": ["audience": "https://a/?b"],
      ])
      _ = try await engine.execute(service.request())
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

  @Test func `D4: a public client names itself in the body`() async throws {
    let service = try TokenService(.refreshToken)
    let engine = try service.engine(config: ["clientSecret": .null])
    _ = try await engine.execute(service.request())
    #expect(service.endpoint.requests.first?.value(of: "authorization") == nil)
    #expect(service.forms.first?["client_id"] == "client")
    #expect(service.forms.first?["client_secret"] == nil)
    await service.stop(engine)
  }

  private static let malformed: [(name: String, body: String, says: String)] = [
    ("HTML", "<html><body>Sign in</body></html>", "no JSON object"),
    ("nothing", "", "an empty body"),
    ("an array", "[]", "no JSON object"),
    ("no access_token", #"{"token_type": "Bearer"}"#, "without \"access_token\""),
    ("an access_token that is no string", #"{"access_token": 7}"#, "without \"access_token\""),
    ("an empty access_token", #"{"access_token": ""}"#, "no token"),
    ("a line break in it", #"{"access_token": "a\r\nx-evil: 1"}"#, "no token"),
    ("another type of token", #"{"access_token": "secret-mac", "token_type": "mac"}"#, "token_type"),
    ("a lifetime in words", #"{"access_token": "secret-word", "expires_in": "soon"}"#, "expires_in"),
    ("a megabyte", String(repeating: " ", count: 1_048_576), "response_too_large"),
  ]

  @Test(arguments: malformed.indices)
  func `D4: an answer that is none fails the refresh and says why, without showing it`(_ index: Int) async throws {
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

  @Test func `D4: lifetimes may be strings and fractions, and the type in any case`() async throws {
    for lifetime in [#""3600""#, "3600.5", "1e300", "null"] {
      let body = #"{"access_token": "t1", "token_type": "bEARER", "expires_in": \#(lifetime)}"#
      let service = try TokenService(accepting: "t1", endpoint: { _, _ in .text(body, type: "application/json") })
      let engine = try service.engine()
      for _ in 0..<2 { _ = try await engine.execute(service.request()) }
      #expect(service.endpoint.requestCount == 1, "\(lifetime)")
      await service.stop(engine)
    }
  }

  @Test func `D4: an endpoint that is not there, or leads elsewhere, is named`() async throws {
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

  @Test func `D4: the token goes to the configured hosts only, marked as a secret`() async throws {
    let marks = Watched<[Bool]>([])
    let service = try TokenService()
    let code = StageCode(issue: { headers, _ in
      let index = headers.indices.first { headers.name(at: $0).lowercased() == "authorization" }
      let isSecret = index.map { headers.marks(at: $0).contains(.sensitive) }
      if let isSecret { marks.update { $0.append(isSecret) } }
    })
    let engine = try service.engine(code: code)
    _ = try await engine.execute(service.request())
    let elsewhere = Request(url: try HTTPURL("http://localhost:\(service.api.port)/"))
    #expect(await engine.transaction(elsewhere).response?.status == 401)
    #expect(service.seen == ["Bearer t1", nil])
    #expect(marks.value == [true])
    await service.stop(engine)
  }

  @Test func `D4: no secret is in the log, nor in an error`() async throws {
    // The second answer tells in its description what it was sent in confidence.
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
    (["hosts": []], "hosts"), (["hosts": ["a/b"]], "hosts[0]"), (["grant": "password"], "grant"),
    (["tokenEndpoint": "http://auth.example.com/token"], "clear text"), (["tokenEndpoint": "/token"], "tokenEndpoint"),
    (["tokenEndpoint": "https://a/token#x"], "tokenEndpoint"), (["clientSecret": .null], "clientSecret"),
    (["clientSecret": "a\nb"], "clientSecret"), (["leeway": "soon"], "leeway"), (["timeout": "0s"], "timeout"),
    (["window": ["refreshes": 0, "duration": "1s"]], "window"), (["header": "a b"], "header"),
    (["parameters": ["client_id": "x"]], "parameters"), (["tokn": "x"], "tokn"),
  ]

  @Test(arguments: refused.indices)
  func `a configuration that cannot work is refused with its key`(_ index: Int) async throws {
    let (config, says) = Self.refused[index]
    let service = try TokenService()
    let error = #expect(throws: EngineError.self) { try service.engine(config: config) }
    #expect("\(error.map { "\($0)" } ?? "")".contains(says), "\(String(describing: error))")
    service.endpoint.stop()
    service.api.stop()
  }

  @Test func `shutdown during a refresh ends the waiting requests, and leaves nothing`() async throws {
    let service = try TokenService()
    let engine = try service.engine(loops: 2)
    service.endpoint.hold()
    async let results = service.run(10, on: engine)
    try await service.endpoint.waitForHeld(1)
    await service.stop(engine)
    let codes = try await results.map { $0.error?.code }
    #expect(codes == Array(repeating: "shutdown", count: 10))
    #expect(!service.log.value.contains { $0.contains("was not destroyed") })
  }
}
