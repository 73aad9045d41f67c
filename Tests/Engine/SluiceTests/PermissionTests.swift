import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Compares the answers of `may_call` with the results of the functions, in every call of a stage.
@Suite struct PermissionTests {
  private static let request = refused(but: [1, 2, 3, 6, 8, 9, 10, 11, 12, 13])
  private static let issue = refused(but: [1, 10, 13])
  private static let between = refused(but: [6, 10, 11, 13])
  private static let challenge = refused(but: [1, 6, 10, 11, 13, 14])
  private static let response = refused(but: [4, 5, 6, 8, 9, 10, 11, 13])
  private static let failure = refused(but: [6, 8, 9, 10, 11, 13])
  private static let piece = refused(but: [6, 7, 10, 11, 13])
  private static let informational = refused(but: [6, 13])
  private static let event = refused(but: [6])

  /// The expected log lines if only the functions in `allowed` are not refused.
  private static func refused(but allowed: Set<Int>) -> [String] {
    [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 9, 8, 10].map { "\($0)=\(allowed.contains($0) ? "0,0" : "-2,-2")" } + [
      "99=4,4"
    ]
  }

  /// The expected log lines, with another status for `suspend`.
  private static func answers(_ answers: [String], suspend: Int) -> [String] {
    answers.map { $0.hasPrefix("11=") ? "11=\(suspend),\(suspend)" : $0 }
  }

  /// The lines that the plugin logged in the first call of a phase.
  private static func told(_ phase: String, in lines: [String]) -> [String] {
    Array(lines.filter { $0.hasPrefix("\(phase).") }.map { String($0.dropFirst(phase.utf8.count + 1)) }.prefix(15))
  }

  @Test func `may_call agrees with the functions in every call`() async throws {
    let visits = Locked(0)
    let server = try LoopbackServer { request in
      if request.target == "/a" { return ServerResponse(status: 302, headers: [HeaderLine("Location", "/b")]) }
      let isFirst = visits.withLock { visits in
        visits += 1
        return visits == 1
      }
      guard isFirst else { return .text("ok") }
      return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=\"r\"")])
    }
    defer { server.stop() }
    let hints = try ScriptedServer(
      .receiveRequest, .send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
    let lines = try await lines(server.baseURL) + lines(hints.baseURL).filter { $0.hasPrefix("informational") }
    let expected = [
      "request": Self.request, "issue": Self.issue, "redirect": Self.between, "challenge": Self.challenge,
      "response": Self.response, "request-piece": Self.piece, "response-piece": Self.piece,
      "request-end": Self.piece, "response-end": Self.piece,
      "informational": Self.informational, "event": Self.event,
    ]
    for (phase, answers) in expected { #expect(Self.told(phase, in: lines) == answers, "\(phase)") }
    // In calls that may suspend, the token was taken, so `suspend` now returns ALREADY (2).
    for phase in ["request", "redirect", "challenge", "response", "request-piece", "response-piece", "response-end"] {
      #expect(lines.contains("\(phase)-again=2"), "\(phase)")
    }
    for phase in ["issue", "event", "informational"] { #expect(lines.contains("\(phase)-again=-2"), "\(phase)") }
  }

  @Test func `may_call agrees with the functions if there is no response`() async throws {
    let lines = try await lines("http://127.0.0.1:\(try Loopback.freePort())")
    #expect(Self.told("failure", in: lines) == Self.failure)
  }

  @Test func `may_call agrees with the functions for a trailer`() async throws {
    let server = try ScriptedServer(
      .receiveRequest,
      .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"))
    // The plugin acts only on trailers here. If it also acted in on_response, it would replace the body, and the
    // trailers would be lost.
    let lines = try await lines(server.baseURL, ["ONLY=\"trailer\""])
    // A call for a trailer cannot return SUSPENDED (body.h).
    #expect(Self.told("trailer", in: lines) == Self.answers(Self.piece, suspend: -2))
  }

  @Test func `a BLOCKING call may call the same functions, except suspend`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let blocking = ["FLAGS=SLUICE_FLAG_BLOCKING"]
    let lines =
      try await lines(server.baseURL, blocking)
      + lines("http://127.0.0.1:\(try Loopback.freePort())", blocking).filter { $0.hasPrefix("failure") }
    for (phase, answers) in ["request": Self.request, "response": Self.response, "failure": Self.failure] {
      #expect(Self.told(phase, in: lines) == Self.answers(answers, suspend: -2), "\(phase)")
      #expect(lines.contains("\(phase)-again=-2"), "\(phase)")
    }
    // The host calls these callbacks on the loop even if the plugin is BLOCKING.
    #expect(Self.told("issue", in: lines) == Self.issue)
    #expect(Self.told("response-piece", in: lines) == Self.piece && lines.contains("response-piece-again=2"))
  }

  @Test func `inside enter, a suspended call may use the same functions as before, but suspend returns ALREADY`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let lines = try await lines(server.baseURL, ["ENTERS=1"])
    #expect(Self.told("entered", in: lines) == Self.answers(Self.request, suspend: 2))
    #expect(lines.contains("entered-again=2"))
  }

  private func lines(_ url: String, _ defines: [String] = []) async throws -> [String] {
    let product = try await PluginCompiler.compile("asks-first", defines: defines)
    chmod(product.path, 0o755)
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)"}},
       "request": ["stage"], "issue": ["stage"], "response": ["stage"], "tracers": ["stage"], "transport": {"loops": 1}}
      """
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    _ = await engine.transaction(Request(url: try HTTPURL(url + "/a")))
    await engine.shutdown()
    withExtendedLifetime(product) {}
    return log.value
  }
}
