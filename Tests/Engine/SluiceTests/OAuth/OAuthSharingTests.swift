import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Instances of oauth-refresh that share their token (`sluice.shared/1`).
@Suite struct OAuthSharingTests {
  /// Returns a configuration with two instances. The second instance also has the settings `others`. The path of a
  /// request selects the instance.
  private func configuration(
    _ service: TokenService, others: JSONValue = [:], leeway: String = "30s"
  ) throws -> Configuration {
    let first: JSONValue = [
      "tokenEndpoint": JSONValue(service.endpoint.baseURL + "/token"), "clientID": "client",
      "clientSecret": JSONValue(TokenService.secret), "hosts": ["127.0.0.1"], "timeout": "10m",
      "leeway": JSONValue(leeway),
    ]
    let second = try JSONValue(parsing: first.serializedText())
    for (key, value) in others.members { second[key] = value }
    let library = BuiltProducts.library("oauth-refresh")
    let text = """
      {"plugins": {"a": {"library": "\(library)", "config": \(try first.serializedText())},
                   "b": {"library": "\(library)", "config": \(try second.serializedText())}},
       "request": [{"plugin": "a", "match": {"paths": ["/a"]}}, {"plugin": "b", "match": {"paths": ["/b"]}}],
       "response": [{"plugin": "a", "match": {"paths": ["/a"]}}, {"plugin": "b", "match": {"paths": ["/b"]}}],
       "deadline": "10m", "swap": {"probation": {"duration": "0s"}}, "transport": {"loops": 2, "timeout": "10m"}}
      """
    return try Configuration(text: Array(text.utf8))
  }

  private func engine(_ service: TokenService, _ configuration: Configuration) throws -> Engine {
    let log = service.log
    return try Engine(configuration) { line in log.update { $0.append(line.message) } }
  }

  @Test func `instances with equal settings make one refresh, and all continue with its token`() async throws {
    let service = try TokenService()
    let engine = try engine(service, configuration(service))
    service.endpoint.hold()
    let requests = try (0..<40).map { try service.request($0 % 2 == 0 ? "/a" : "/b") }
    async let results = withTaskGroup { group in
      for request in requests { group.addTask { await engine.transaction(request) } }
      return await group.reduce(into: []) { $0.append($1.response?.status) }
    }
    try await service.endpoint.waitForHeld(1)
    service.endpoint.release()
    #expect(await results == Array(repeating: 200, count: 40))
    #expect(service.endpoint.requestCount == 1 && Set(service.seen) == ["Bearer t1"])
    #expect(service.log.value.count { $0.contains("uses the token that another instance got") } == 1)
    await service.stop(engine)
  }

  @Test func `a token that the API refuses is replaced only once, even if several instances use it`() async throws {
    let service = try TokenService()
    let engine = try engine(service, configuration(service))
    for path in ["/a", "/b"] { #expect(try await engine.transaction(service.request(path)).response?.status == 200) }
    service.accepted.update { $0 = nil }
    for path in ["/a", "/b", "/a"] {
      #expect(try await engine.transaction(service.request(path)).response?.status == 200)
    }
    #expect(service.endpoint.requestCount == 2)
    #expect(service.seen == ["t1", "t1", "t1", "t2", "t1", "t2", "t2"].map { "Bearer \($0)" })
    await service.stop(engine)
  }

  @Test(arguments: [
    #"{"clientID": "other"}"#, #"{"clientSecret": "other"}"#, #"{"scope": "write"}"#, #"{"parameters": {"a": "b"}}"#,
    #"{"clientAuthentication": "body"}"#, #"{"accessToken": "other"}"#,
  ])
  func `instances whose settings lead to different tokens share no token`(_ others: String) async throws {
    let service = try TokenService()
    let engine = try engine(service, configuration(service, others: JSONValue(parsing: others)))
    for path in ["/a", "/b"] { #expect(try await engine.transaction(service.request(path)).response?.status == 200) }
    #expect(service.endpoint.requestCount == 2)
    await service.stop(engine)
  }

  @Test func `a refresh that fails in one instance is tried again by the other`() async throws {
    let service = try TokenService(endpoint: { number, _ in number == 1 ? ServerResponse(status: 503) : nil })
    let engine = try engine(service, configuration(service))
    #expect(try await engine.transaction(service.request("/a")).error?.code == "token_refresh_failed")
    #expect(try await engine.transaction(service.request("/b")).response?.status == 200)
    #expect(try await engine.transaction(service.request("/a")).response?.status == 200)
    #expect(service.endpoint.requestCount == 2)
    await service.stop(engine)
  }

  @Test func `an instance that is created in a swap begins with the existing token`() async throws {
    let service = try TokenService()
    let engine = try engine(service, configuration(service))
    #expect(try await engine.transaction(service.request("/a")).response?.status == 200)
    let report = try await engine.reload(configuration(service, leeway: "20s"))
    #expect(report.outcome == .published)
    for path in ["/a", "/b"] { #expect(try await engine.transaction(service.request(path)).response?.status == 200) }
    #expect(service.endpoint.requestCount == 1 && Set(service.seen) == ["Bearer t1"])
    await service.stop(engine)
  }

  @Test func `a rotated refresh token survives a swap, even if its access token has expired`() async throws {
    let service = try TokenService(.refreshToken, expiresIn: 0)
    func configuration(_ leeway: String) throws -> Configuration {
      try self.configuration(service, leeway: leeway).with { plugin in
        plugin.config["grant"] = "refresh_token"
        plugin.config["refreshToken"] = JSONValue(TokenService.firstRefreshToken)
      }
    }
    let engine = try engine(service, configuration("30s"))
    #expect(try await engine.transaction(service.request("/a")).response?.status == 200)
    #expect(try await engine.reload(configuration("20s")).outcome == .published)
    #expect(try await engine.transaction(service.request("/a")).response?.status == 200)
    #expect(service.forms.map { $0["refresh_token"] } == [TokenService.firstRefreshToken, "r1"])
    await service.stop(engine)
  }
}

extension Configuration {
  fileprivate func with(_ change: (PluginConfiguration) -> Void) -> Configuration {
    for plugin in plugins { change(plugin) }
    return self
  }
}
