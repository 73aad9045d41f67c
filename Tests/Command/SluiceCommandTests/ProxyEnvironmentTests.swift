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

  @Test(arguments: [
    ("NTLM", "it demands NTLM, and Sluice knows only Basic and Digest"),
    ("Basic realm=\"r\"", "check those in its URL"),
  ])
  func `a proxy that answers 407 to a request for an http URL is named, and what it demands`(
    _ challenge: String, _ words: String
  ) async throws {
    let proxy = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 407 P\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n"))
    defer { proxy.stop() }
    let sent = try await Tool.run("send", "-x", proxy.baseURL, "http://a.invalid/")
    #expect(sent.status == 22)
    #expect(sent.errorText.contains("the proxy answered 407 to GET http://a.invalid/"), "\(sent.errorText)")
    #expect(sent.errorText.contains(words), "\(sent.errorText)")
  }

  @Test(arguments: [([ScriptStep.receiveHead, .reset], 56), ([.receiveHead, .send("SSH-2.0-x\r\n")], 8)])
  func `a proxy that breaks the connection or speaks no HTTP is named`(_ steps: [ScriptStep], _ status: Int)
    async throws
  {
    let proxy = try ScriptedServer([steps])
    defer { proxy.stop() }
    let sent = try await Tool.run("send", "-x", proxy.baseURL, "http://a.invalid/")
    #expect(sent.status == status, "\(sent.errorText)")
    #expect(sent.errorText.contains("the proxy \"127.0.0.1:\(proxy.port)\""), "\(sent.errorText)")
  }

  @Test func `a proxy that is not reached is tried again`() async throws {
    let closed = try Loopback.freePort()
    let sent = try await Tool.run(
      "send", "--retry", "2", "--retry-delay", "1ms", "--retry-connrefused", "-v", "-x", "127.0.0.1:\(closed)",
      "http://a.invalid/")
    #expect(sent.status == 7)
    #expect(sent.errorText.split(separator: "\n").count { $0.hasPrefix("* attempt ") } == 3, "\(sent.errorText)")
  }
}
