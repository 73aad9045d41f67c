import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The shipped plugin cache in the real command. Each call is a separate process.
@Suite struct CacheCommandTests {
  @Test func `the second sluice send finds the response of the first one on disk`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(headers: [HeaderLine("cache-control", "max-age=600")], body: .bytes(Array("once".utf8)))
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {"cache": {"library": "\(BuiltProducts.library("cache"))",
                             "config": {"disk": {"path": "\(folder.path("http"))"}}}},
       "request": ["cache"], "response": ["cache"]}
      """, to: "sluice.json")
    let first = try await Tool.run("send", "-i", "-c", file, server.baseURL)
    let second = try await Tool.run("send", "-i", "-c", file, server.baseURL)
    #expect(first.outputText.contains("cache-status: sluice; fwd=uri-miss; stored\r\n"), "\(first.errorText)")
    #expect(second.outputText.contains("cache-status: sluice; hit; ttl="), "\(second.errorText)")
    #expect(second.outputText.hasSuffix("\r\n\r\nonce"))
    #expect(server.requestCount == 1)
  }
}
