import Glibc
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceCommand

/// Which bodies `send` can send again, and what it says if it cannot.
@Suite struct SendAgainTests {
  /// A server that answers 503 to the first request.
  private static func busyOnce() throws -> LoopbackServer {
    let count = Watched(0)
    return try LoopbackServer { request in
      let number = count.update { count in
        count += 1
        return count
      }
      return number == 1 ? ServerResponse(status: 503) : ServerResponse(body: .bytes(request.body))
    }
  }

  private static func bodies(_ server: LoopbackServer) -> [String] {
    server.requests.map { String(decoding: $0.body, as: UTF8.self) }
  }

  @Test func `a form with files is sent again`() async throws {
    let server = try Self.busyOnce()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let small = try folder.write("small", to: "small")
    let large = try folder.write(String(repeating: "x", count: 3_000_000), to: "large")
    let result = try await Tool.run(
      "send", "--retry", "2", "--retry-delay", "0.001", "-F", "a=@\(small)", "-F", "b=text", "-F", "c=@\(large)",
      server.baseURL)
    #expect(result.status == 0 && !result.errorText.contains("not sent again"), "\(result.errorText)")
    let bodies = Self.bodies(server)
    try #require(bodies.count == 2)
    #expect(bodies[0] == bodies[1] && bodies[1].utf8.count > 3_000_000)
    #expect(bodies[1].contains("small") && bodies[1].contains("text"))
  }

  @Test(arguments: [[], ["--record", "DIR/r.jsonl"], ["--har", "DIR/r.har"]])
  func `a redirect that keeps the method gets the form again`(_ options: [String]) async throws {
    let server = try LoopbackServer { request in
      request.target == "/end"
        ? .text("arrived") : ServerResponse(status: 307, headers: [HeaderLine("Location", "/end")])
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write("content", to: "f")
    let result = try await Tool.run(
      arguments: ["send", "-F", "f=@\(file)"] + options.map { $0.replacing("DIR", with: folder.path) } + [
        server.baseURL
      ])
    #expect(result.status == 0 && result.outputText == "arrived", "\(result.errorText)")
    let bodies = Self.bodies(server)
    try #require(bodies.count == 2)
    #expect(bodies[0] == bodies[1] && bodies[1].contains("content"))
  }

  @Test func `several URLs get the same form, also at the same time`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write("content", to: "f")
    let result = try await Tool.run("send", "-Z", "-F", "f=@\(file)", "\(server.baseURL)/[1-5]")
    #expect(result.status == 0, "\(result.errorText)")
    let bodies = Self.bodies(server)
    #expect(bodies.count == 5 && Set(bodies).count == 1 && bodies.first?.contains("content") == true)
  }

  @Test func `a body that can be sent only once is not sent again, and a line says so`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(status: 503) }
    defer { server.stop() }
    for options in [[], ["-s"], ["--no-fail"]] {
      let result = try await Tool.run(
        arguments: ["send", "--retry", "2", "-T", "-"] + options + [server.baseURL], input: "once")
      #expect(result.status == (options == ["--no-fail"] ? 0 : 22))
      #expect(result.errorText.contains("the request is not sent again") == (options != ["-s"]), "\(result.errorText)")
    }
    #expect(server.requestCount == 3)
    // Nothing is said if the request would not be sent again anyway.
    let plain = try await Tool.run("send", "-T", "-", server.baseURL, input: "once")
    #expect(plain.status == 22 && !plain.errorText.contains("not sent again"))
    let refused = try await Tool.run("send", "--retry", "2", "-T", "-", "http://127.0.0.1:1/", input: "once")
    #expect(refused.status == 7 && !refused.errorText.contains("not sent again"))
    let wanted = try await Tool.run(
      "send", "--retry", "2", "--retry-connrefused", "-T", "-", "http://127.0.0.1:1/", input: "once")
    #expect(wanted.status == 7 && wanted.errorText.contains("not sent again"), "\(wanted.errorText)")
  }

  @Test func `the line about a retry has the status and the URL without secrets, and -w counts the retries`()
    async throws
  {
    let server = try Self.busyOnce()
    defer { server.stop() }
    let url = server.baseURL.replacing("//", with: "//me:s3cret@")
    let result = try await Tool.run(
      "send", "--retry", "2", "--retry-delay", "0.001", "-w", " %{num_retries}", "\(url)/x")
    #expect(result.status == 0 && result.outputText.hasSuffix(" 1"), "\(result.outputText)")
    #expect(result.errorText.contains("the server answered 503 to GET http://"), "\(result.errorText)")
    #expect(result.errorText.contains("/x; sending the request again in 1.00 ms"), "\(result.errorText)")
    #expect(!result.errorText.contains("s3cret"))
  }

  @Test func `an empty standard input is sent again`() async throws {
    let folder = try TemporaryDirectory()
    let empty = try folder.write("", to: "empty")
    for input in ["/dev/null", empty] {
      let server = try Self.busyOnce()
      defer { server.stop() }
      let script = "exec \(Tool.path) send --retry 2 --retry-delay 0.001 -T - \(server.baseURL) <\(input)"
      let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
      #expect(result.status == 0 && Self.bodies(server) == ["", ""], "\(result.errorText)")
      #expect(server.requests.map(\.method) == ["PUT", "PUT"])
    }
    // The size of such a file is 0 although it has content.
    let server = try LoopbackServer()
    defer { server.stop() }
    let script = "exec \(Tool.path) send -T - \(server.baseURL) </proc/self/status"
    let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
    #expect(result.status == 0 && Self.bodies(server).first?.contains("Pid:") == true, "\(result.errorText)")
  }
}
