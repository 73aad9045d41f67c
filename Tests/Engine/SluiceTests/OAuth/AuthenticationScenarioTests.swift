import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The typical scenarios of authentication interceptors, each with both grants. A token is applied. Requests wait while
/// a token is fetched. Statuses other than 401 pass unchanged. A refusal leads to a retry, with or without a refresh. A
/// failed refresh fails every waiting request. The number of refreshes is limited.
@Suite struct AuthenticationScenarioTests {
  typealias Grant = TokenService.Grant

  @Test("an available token is applied, and nothing else happens", arguments: Grant.allCases)
  func applies(_ grant: Grant) async throws {
    let service = try TokenService(grant, accepting: "a0")
    let engine = try service.engine(token: "a0")
    let result = try await engine.transaction(service.request())
    #expect(result.response?.status == 200)
    #expect(result.attempts == 1)
    #expect(service.seen == ["Bearer a0"])
    #expect(service.endpoint.requestCount == 0)
    await service.stop(engine)
  }

  @Test("requests wait for a token that is being fetched, and share it", arguments: Grant.allCases)
  func waits(_ grant: Grant) async throws {
    let service = try TokenService(grant)
    let engine = try service.engine()
    let results = try await service.run(2, on: engine)
    #expect(results.allSatisfy { $0.response?.status == 200 && $0.attempts == 1 })
    #expect(service.seen == ["Bearer t1", "Bearer t1"])
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test("a request that begins while a refused token is being replaced waits too", arguments: Grant.allCases)
  func waitsForReplacement(_ grant: Grant) async throws {
    let service = try TokenService(grant)
    let engine = try service.engine(token: "a0")
    service.endpoint.hold()
    async let first = service.run(1, on: engine)
    try await service.endpoint.waitForHeld(1)
    async let second = service.run(1, on: engine)
    service.endpoint.release()
    #expect(try await first.first?.attempts == 2)
    #expect(try await second.first?.response?.status == 200)
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test("a configuration without a credential for fetching a token is refused", arguments: Grant.allCases)
  func needsCredentials(_ grant: Grant) throws {
    let service = try TokenService(grant)
    let missing: JSONValue = grant == .refreshToken ? ["refreshToken": .null] : ["clientSecret": .null]
    #expect(throws: EngineError.self) { try service.engine(config: missing) }
    service.endpoint.stop()
    service.api.stop()
  }

  @Test("a token that cannot be fetched fails the request before it is sent", arguments: Grant.allCases)
  func failsBeforeSending(_ grant: Grant) async throws {
    let service = try TokenService(grant, endpoint: { _, _ in .hangUp })
    let engine = try service.engine()
    let result = try await engine.transaction(service.request())
    #expect(result.error?.code == "token_refresh_failed")
    #expect(result.attempts == 1)
    #expect(service.api.requestCount == 0)
    await service.stop(engine)
  }

  @Test("a request without a response is not retried", arguments: Grant.allCases)
  func leavesFailures(_ grant: Grant) async throws {
    let service = try TokenService(grant, accepting: "a0", api: { _, _ in .hangUp })
    let engine = try service.engine(token: "a0")
    let result = try await engine.transaction(service.request())
    #expect(result.error != nil)
    #expect(result.response == nil)
    #expect(service.endpoint.requestCount == 0)
    await service.stop(engine)
  }

  @Test("a status other than 401 does not cause a refresh", arguments: Grant.allCases, [400, 403, 404, 407, 500])
  func leavesOtherStatuses(_ grant: Grant, _ status: Int) async throws {
    let service = try TokenService(grant, accepting: "a0", api: { _, _ in ServerResponse(status: status) })
    let engine = try service.engine(token: "a0")
    let result = try await engine.transaction(service.request())
    #expect(result.response?.status == status)
    #expect(service.endpoint.requestCount == 0)
    await service.stop(engine)
  }

  @Test("a token that the caller set is not replaced, and its 401 goes to the caller", arguments: Grant.allCases)
  func leavesForeignTokens(_ grant: Grant) async throws {
    let service = try TokenService(grant)
    let engine = try service.engine(token: "a0")
    let result = try await engine.transaction(service.request("/", ["authorization": "Bearer mine"]))
    #expect(result.response?.status == 401)
    #expect(result.attempts == 1)
    #expect(service.seen == ["Bearer mine"])
    #expect(service.endpoint.requestCount == 0)
    await service.stop(engine)
  }

  @Test("the caller's header is replaced if the configuration asks for it", arguments: Grant.allCases)
  func overwrites(_ grant: Grant) async throws {
    let service = try TokenService(grant)
    let engine = try service.engine(config: ["overwrite": true])
    let result = try await engine.transaction(service.request("/", ["authorization": "Bearer mine"]))
    #expect(result.response?.status == 200)
    #expect(service.seen == ["Bearer t1"])
    await service.stop(engine)
  }

  @Test("an outdated token is retried with the current token, without a refresh", arguments: Grant.allCases)
  func retriesOutdated(_ grant: Grant) async throws {
    let held = Watched<[DeferredResponse]>([])
    let service = try TokenService(
      grant,
      api: { request, isAccepted in
        guard request.path == "/late", !isAccepted else { return nil }
        return .deferred { answer in held.update { $0.append(answer) } }
      })
    let engine = try service.engine(token: "a0")
    let late = try (0..<5).map { _ in try service.request("/late") }
    async let results = withTaskGroup { group in
      for request in late { group.addTask { await engine.transaction(request) } }
      return await group.reduce(into: [TransactionResult]()) { $0.append($1) }
    }
    try await held.wait { $0.count == 5 }
    _ = try await engine.perform(service.request())
    for answer in held.value { answer.complete(with: ServerResponse(status: 401)) }
    #expect(await results.allSatisfy { $0.response?.status == 200 && $0.attempts == 2 })
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test("a refused request is retried after a refresh", arguments: Grant.allCases)
  func retriesAfterRefresh(_ grant: Grant) async throws {
    let service = try TokenService(grant)
    let engine = try service.engine(token: "a0")
    let result = try await engine.transaction(service.request())
    #expect(result.response?.status == 200)
    #expect(result.attempts == 2)
    #expect(service.seen == ["Bearer a0", "Bearer t1"])
    await service.stop(engine)
  }

  @Test("a body is sent again with the new token", arguments: Grant.allCases)
  func repeatsBodies(_ grant: Grant) async throws {
    let service = try TokenService(grant)
    let engine = try service.engine(token: "a0")
    var request = try service.request()
    request.method = "POST"
    request.body = .text("payload")
    #expect(await engine.transaction(request).response?.status == 200)
    #expect(service.api.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["payload", "payload"])
    await service.stop(engine)
  }

  @Test("if the refresh fails, the refused request fails with the error of the refresh", arguments: Grant.allCases)
  func failsAfterRefusal(_ grant: Grant) async throws {
    let service = try TokenService(grant, endpoint: { _, _ in TokenService.refusal("invalid_grant") })
    let engine = try service.engine(token: "a0")
    let result = try await engine.transaction(service.request())
    #expect(result.error?.code == "token_refresh_failed")
    #expect(result.error?.message.contains("400 invalid_grant") == true)
    #expect(service.seen == ["Bearer a0"])
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test("parallel refusals lead to one refresh", arguments: Grant.allCases, [6, 40])
  func refreshesOnce(_ grant: Grant, _ count: Int) async throws {
    let service = try TokenService(grant)
    let engine = try service.engine(token: "a0", loops: 2)
    service.api.hold()
    async let results = service.run(count, on: engine)
    try await service.api.waitForHeld(count)
    service.api.release()
    #expect(try await results.allSatisfy { $0.response?.status == 200 && $0.attempts == 2 })
    #expect(service.endpoint.requestCount == 1)
    await service.stop(engine)
  }

  @Test("as long as the window allows refreshes, each refused request gets one", arguments: Grant.allCases)
  func refreshesInWindow(_ grant: Grant) async throws {
    let service = try TokenService(grant, acceptsNew: false)
    let engine = try service.engine(token: "a0", config: ["window": ["refreshes": 5, "duration": "1h"]])
    for _ in 0..<4 { _ = try await engine.transaction(service.request()) }
    service.accepted.update { $0 = "t5" }
    #expect(try await engine.transaction(service.request()).response?.status == 200)
    #expect(service.endpoint.requestCount == 5)
    #expect(service.seen.last == "Bearer t5")
    await service.stop(engine)
  }

  @Test("if the window allows no more refreshes, the caller gets the 401", arguments: Grant.allCases)
  func endsExcess(_ grant: Grant) async throws {
    let service = try TokenService(grant, acceptsNew: false)
    let engine = try service.engine(token: "a0", config: ["window": ["refreshes": 2, "duration": "1h"]])
    for _ in 0..<3 { #expect(try await engine.transaction(service.request()).response?.status == 401) }
    #expect(service.seen == ["a0", "t1", "t1", "t2", "t2"].map { "Bearer \($0)" })
    #expect(service.endpoint.requestCount == 2)
    await service.stop(engine)
  }

  @Test("when the window has passed, refreshes are allowed again", arguments: Grant.allCases)
  func windowPasses(_ grant: Grant) async throws {
    let service = try TokenService(grant, acceptsNew: false)
    let engine = try service.engine(token: "a0", config: ["window": ["refreshes": 1, "duration": "1ms"]])
    // Repeats until the window of a millisecond has passed, on a machine of any speed.
    while service.endpoint.requestCount < 3 { _ = try await engine.transaction(service.request()) }
    #expect(service.endpoint.requestCount == 3)
    await service.stop(engine)
  }
}
