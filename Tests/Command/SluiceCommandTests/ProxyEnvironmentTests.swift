import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
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

  @Test(arguments: ["127.0.0.1", "a.test, 127.0.0.1", "*", "127.0.0.0/8"])
  func `a host that no_proxy names is reached without the proxy`(_ direct: String) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await result(server.baseURL, proxy: "http://127.0.0.1:1", direct: direct)
    #expect(result.status == 200)
  }

  @Test(arguments: ["", "a.test", "127.0.0.2"])
  func `every other host is reached through the proxy`(_ direct: String) async throws {
    let proxy = try ScriptedServer([ScriptStep.respond(body: "via")])
    defer { proxy.stop() }
    let result = try await result("http://127.0.0.1:1/", proxy: proxy.baseURL, direct: direct)
    #expect(result["response"]?["body"]?["text"]?.string == "via")
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

  @Test func `a request to the proxy itself, which no_proxy names, is a request to a server`() async throws {
    let proxy = try ScriptedServer([ScriptStep.respond(body: "via"), ScriptStep.respond(body: "itself")])
    defer { proxy.stop() }
    let result = try await Tool.run(
      "send", "http://a.invalid/1", proxy.baseURL + "/2",
      environment: ["http_proxy": proxy.baseURL, "no_proxy": "127.0.0.1", "NO_PROXY": nil])
    #expect(result.outputText == "viaitself", "\(result.errorText)")
    #expect(
      proxy.receivedText.map { $0.split(separator: "\r\n").first } == [
        "GET http://a.invalid/1 HTTP/1.1", "GET /2 HTTP/1.1",
      ])
  }
}
