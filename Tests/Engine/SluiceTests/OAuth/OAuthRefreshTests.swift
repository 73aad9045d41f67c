import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The shipped plugin oauth-refresh in a real engine, against a real token endpoint.
@Suite struct OAuthRefreshTests {
  @Test func `a 401 of the first attempt gets a new token, and the request is sent again with it`() async throws {
    let service = try TokenService()
    let engine = try service.engine(token: "old")
    let result = try await engine.transaction(service.request())
    #expect(result.response?.status == 200)
    #expect(result.attempts == 2)
    #expect(service.seen == ["Bearer old", "Bearer t1"])
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test func `200 concurrent 401s cause one refresh, and all requests continue with the new token`() async throws {
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

  @Test func `a failed refresh fails each waiting request once, with endpoint and status and without secrets`()
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

  @Test func `a request that waits for a refresh has a span for the wait, and the span has the status of the refresh`()
    async throws
  {
    let service = try TokenService(endpoint: { number, _ in number == 2 ? ServerResponse(status: 503) : nil })
    let spans = Watched<[StageSpan]>([])
    let code = StageCode(observing: { event in
      if let span = event.span { spans.update { $0.append(span) } }
    })
    let engine = try service.engine(code: code)
    #expect(try await engine.transaction(service.request()).response?.status == 200)
    // The second request already has the token. The third gets a 401, and its refresh fails.
    #expect(try await engine.transaction(service.request()).response?.status == 200)
    #expect(spans.value.count == 1)
    service.accepted.update { $0 = "another" }
    #expect(try await engine.transaction(service.request()).error?.code == "token_refresh_failed")
    await service.stop(engine)
    #expect(spans.value.map(\.name) == ["token refresh", "token refresh"])
    #expect(spans.value.map(\.status) == [.ok, .error])
    #expect(spans.value.allSatisfy { $0.stage == "oauth" && !$0.isUnfinished && $0.start < $0.end })
    #expect(spans.value.last?.statusMessage.contains("503") == true)
  }

  @Test func `a request that begins after a failed refresh can try again`() async throws {
    let service = try TokenService(endpoint: { number, _ in number == 1 ? ServerResponse(status: 503) : nil })
    let engine = try service.engine(token: "old")
    #expect(try await engine.transaction(service.request()).error?.code == "token_refresh_failed")
    #expect(try await engine.transaction(service.request()).response?.status == 200)
    #expect(service.seen == ["Bearer old", "Bearer t2"])
    await service.stop(engine)
  }

  @Test func `if there is no token, the first requests on all loops wait for a single refresh`() async throws {
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

  @Test func `an expired token is replaced before it is used`() async throws {
    let service = try TokenService(expiresIn: 0)
    let engine = try service.engine()
    for _ in 0..<3 { _ = try await engine.perform(service.request()) }
    #expect(service.seen == ["Bearer t1", "Bearer t2", "Bearer t3"])
    await service.stop(engine)
  }

  @Test func `a token is replaced within the leeway before it expires, without a 401`() async throws {
    let service = try TokenService(expiresIn: 2)
    let engine = try service.engine(config: ["leeway": "1h", "window": ["refreshes": 1000, "duration": "1h"]])
    // The plugin limits the leeway to half the lifetime, so this takes a second on a machine of any speed.
    while service.endpoint.requestCount < 2 {
      let result = try await engine.transaction(service.request())
      #expect(result.attempts == 1)
      guard result.response?.status == 200 else { break }
    }
    #expect(service.seen.allSatisfy { $0 == "Bearer t1" || $0 == "Bearer t2" })
    #expect(service.endpoint.requestCount == 2)
    await service.stop(engine)
  }

  @Test func `a token without expires_in is used until it is refused`() async throws {
    let service = try TokenService(expiresIn: nil)
    let engine = try service.engine()
    for _ in 0..<5 { _ = try await engine.perform(service.request()) }
    #expect(service.endpoint.requestCount == 1)
    service.accepted.update { $0 = "gone" }
    _ = try await engine.perform(service.request())
    #expect(service.endpoint.requestCount == 2)
    await service.stop(engine)
  }

  @Test func `an expired token is not used if its refresh fails`() async throws {
    let service = try TokenService(expiresIn: 0, endpoint: { number, _ in number == 2 ? .hangUp : nil })
    let engine = try service.engine()
    _ = try await engine.perform(service.request())
    #expect(try await engine.transaction(service.request()).error?.code == "token_refresh_failed")
    #expect(service.api.requestCount == 1)
    await service.stop(engine)
  }

  @Test func `if a refresh before expiry fails, a valid token is still used`() async throws {
    let service = try TokenService(expiresIn: 4, endpoint: { number, _ in number > 1 ? .hangUp : nil })
    let engine = try service.engine(config: ["leeway": "1h"])
    let begin = ContinuousClock.now
    while service.endpoint.requestCount < 2 {
      let result = try await engine.transaction(service.request())
      // If the machine stalls for the whole lifetime of the token, the test stops here and proves nothing.
      guard ContinuousClock.now - begin < .seconds(4) else { break }
      #expect(result.response?.status == 200)
    }
    #expect(Set(service.seen) == ["Bearer t1"])
    await service.stop(engine)
  }

  @Test func `a cancelled caller does not cancel the refresh for other requests`() async throws {
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

  @Test func `a slow endpoint delays a transaction at most until its deadline`() async throws {
    let service = try TokenService()
    let engine = try service.engine(token: "old")
    service.endpoint.hold()
    var request = try service.request()
    request.timeout = .milliseconds(200)
    #expect(await engine.transaction(request).error?.code == "deadline")
    await service.stop(engine)
  }

  @Test func `the endpoint's own timeout fails the refresh`() async throws {
    let service = try TokenService()
    let engine = try service.engine(token: "old", config: ["timeout": "50ms"])
    service.endpoint.hold()
    let error = try #require(try await engine.transaction(service.request()).error)
    #expect(error.code == "token_refresh_failed")
    #expect(error.message.contains("timeout"))
    await service.stop(engine)
  }

  @Test func `a request that got a 401 for an old token is sent again without a refresh`() async throws {
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

  @Test func `a 401 of the second attempt goes to the caller, and starts no refresh`() async throws {
    let service = try TokenService(acceptsNew: false)
    let engine = try service.engine(token: "old")
    let result = try await engine.transaction(service.request())
    #expect(result.response?.status == 401)
    #expect(result.attempts == 2)
    #expect(service.seen == ["Bearer old", "Bearer t1"])
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test func `if the window allows no more refreshes, each 401 is passed on, and one line is logged`() async throws {
    let service = try TokenService(acceptsNew: false)
    let engine = try service.engine(token: "old", config: ["window": ["refreshes": 3, "duration": "1h"]])
    for _ in 0..<20 {
      let result = try await engine.transaction(service.request())
      #expect(result.response?.status == 401)
    }
    #expect(service.endpoint.requestCount == 3)
    // The first 3 requests make two attempts each, and the other 17 make one.
    #expect(service.api.requestCount == 23)
    let lines = service.log.value.filter { $0.contains("a 401 is passed on") }
    #expect(lines.count == 1, "\(service.log.value)")
    #expect(lines.first?.contains("3 refreshes") == true)
    await service.stop(engine)
  }

  @Test func `if there never was a token and the window allows no more refreshes, requests fail at once`() async throws
  {
    let service = try TokenService(endpoint: { _, _ in ServerResponse(status: 500) })
    let engine = try service.engine(config: ["window": ["refreshes": 2, "duration": "1h"]])
    for _ in 0..<6 {
      #expect(try await engine.transaction(service.request()).error?.code == "token_refresh_failed")
    }
    #expect(service.endpoint.requestCount == 2)
    #expect(service.api.requestCount == 0)
    await service.stop(engine)
  }

  @Test func `a shutdown during a refresh ends the waiting requests, and the instance is destroyed`() async throws {
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
