import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The cache with redirects that the engine follows: the cache sees only the response of the last hop.
@Suite struct CacheRedirectTests {
  @Test func `the target of a redirect is not stored under the redirecting URL`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/a" ? .leading(to: "/b") : .cacheable("b", "max-age=600")
    }
    defer { server.stop() }
    let engine = try CacheEngine.make()
    for _ in 0..<2 {
      let response = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
      #expect(response.body.bytes == Array("b".utf8))
      #expect(response.headers["cache-status"] == "sluice; fwd=uri-miss")
    }
    #expect(server.requests.map(\.target) == ["/a", "/b", "/a", "/b"])
    await engine.shutdown()
  }

  @Test func `a 304 of another URL does not confirm the stored response`() async throws {
    let isMoved = Watched(false)
    let server = try LoopbackServer { request in
      if request.target == "/a" {
        return isMoved.value ? .leading(to: "/b") : .cacheable("old a", "max-age=0", ["ETag: \"1\""])
      }
      // `/b` uses the same tag for another response.
      return request.value(of: "if-none-match") == "\"1\"" ? ServerResponse(status: 304) : .text("b")
    }
    defer { server.stop() }
    let engine = try CacheEngine.make()
    let url = try HTTPURL(server.baseURL + "/a")
    #expect(try await engine.perform(Request(url: url)).body.bytes == Array("old a".utf8))
    isMoved.update { $0 = true }
    for _ in 0..<2 {
      let response = try await engine.perform(Request(url: url))
      #expect(response.status == 200)
      #expect(response.body.bytes == Array("b".utf8))
    }
    await engine.shutdown()
  }
}

extension ServerResponse {
  static func leading(to target: String) -> ServerResponse {
    ServerResponse(status: 302, headers: [HeaderLine("location", target)])
  }
}
