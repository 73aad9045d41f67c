import SluiceJSON
import SluiceTestKit
import Testing

/// `sluice echo`.
@Suite struct EchoTests {
  @Test func `it prints its URL, answers with the request, and ends on SIGINT`() async throws {
    let running = try Tool.start("echo")
    try await running.waitForOutput(containing: "\n")
    let url = running.outputSoFar.trimmed
    let result = try await Tool.run("send", url + "/some/path", "-d", "x")
    let document = try JSONValue(parsing: result.standardOutput)
    #expect(document["url"]?.string == url + "/some/path")
    #expect(document["body"]?["text"]?.string == "x")
    running.send(signal: 2)
    #expect(try await running.wait().status == 130)
  }

  @Test func `a port that is taken is named`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run("echo", "--port", "\(server.port)")
    #expect(result.status == 1)
    #expect(result.errorText.contains("cannot listen on 127.0.0.1:\(server.port)"))
  }
}
