import SluiceJSON
import SluiceServer
import SluiceTestKit
import Testing

/// The proxy that the environment names, and the hosts that `no_proxy` excludes.
@Suite struct ProxyEnvironmentTests {
  /// Runs a request with `http_proxy` and `no_proxy`, and returns its result.
  private func result(_ url: String, proxy: String, direct: String, _ arguments: String...) async throws -> JSONValue {
    let command = try await Tool.run(
      arguments: ["run", "-q", "--metadata"] + arguments, input: #"{"url": "\#(url)"}"#,
      environment: ["http_proxy": proxy, "no_proxy": direct, "NO_PROXY": nil])
    return try #require(command.documents.first, "\(command.errorText)")
  }

  @Test(arguments: ["127.0.0.1", "a.test, 127.0.0.1", "*"])
  func `a host that no_proxy names is reached by Sluice's own transport`(_ direct: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await result(server.baseURL, proxy: "http://127.0.0.1:1", direct: direct)
    #expect(result.status == 200)
    #expect(result["metadata"]?["timings"]?["engine"]?.string == "wire")
  }

  @Test(arguments: ["", "a.test", "127.0.0.2"])
  func `every other host is reached through the proxy`(_ direct: String) async throws {
    let proxy = try ScriptedServer([ScriptStep.respond(body: "via")])
    defer { proxy.stop() }
    let result = try await result("http://127.0.0.1:1/", proxy: proxy.baseURL, direct: direct)
    #expect(result["response"]?["body"]?["text"]?.string == "via")
    #expect(result["metadata"]?["timings"]?["engine"]?.string == "curl")
    #expect(proxy.receivedText.joined().hasPrefix("GET http://127.0.0.1:1/ HTTP/1.1\r\n"))
  }

  @Test func `a redirect from a host of no_proxy to another host goes through the proxy`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 302 Found\r\nLocation: http://example.invalid/\r\nContent-Length: 0\r\n\r\n"))
    let proxy = try ScriptedServer([ScriptStep.respond(body: "via")])
    defer {
      server.stop()
      proxy.stop()
    }
    let result = try await result(server.baseURL, proxy: proxy.baseURL, direct: "127.0.0.1")
    #expect(result["response"]?["body"]?["text"]?.string == "via")
    #expect(proxy.receivedText.joined().hasPrefix("GET http://example.invalid/ HTTP/1.1\r\n"))
  }

  @Test func `the engine wire refuses a proxy, unless no_proxy excludes every host`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let pipeline = try folder.write(#"{"transport": {"engine": "wire"}}"#, to: "c.json")
    let result = try await result(server.baseURL, proxy: "http://127.0.0.1:1", direct: "*", "-c", pipeline)
    #expect(result.status == 200)
    let refused = try await Tool.run(
      "send", "-c", pipeline, server.baseURL,
      environment: ["http_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1"])
    #expect(refused.status == 2 && refused.errorText.contains("transport.engine is \"wire\""), "\(refused.errorText)")
  }
}
