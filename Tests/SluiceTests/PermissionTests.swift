import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import Testing

/// `may_call` compared with the functions' answers, in every call of a stage.
@Suite struct PermissionTests {
  private static let request = [
    "1=0,0", "2=0,0", "3=0,0", "4=-2,-2", "5=-2,-2", "6=0,0", "7=-2,-2", "11=0,0", "12=0,0", "13=0,0", "14=-2,-2",
    "9=0,0", "8=0,0",
    "10=0,0", "99=4,4",
  ]
  private static let issue = refused(but: [1, 10, 13])
  private static let between = refused(but: [6, 10, 11, 13])
  private static let challenge = refused(but: [1, 6, 10, 11, 13, 14])
  private static let response = refused(but: [4, 5, 6, 8, 9, 10, 11, 13])
  private static let failure = refused(but: [6, 8, 9, 10, 11, 13])
  private static let piece = refused(but: [6, 7, 10, 11, 13])
  private static let informational = refused(but: [6, 13])
  private static let event = refused(but: [6])

  /// Everything except these is refused.
  private static func refused(but allowed: Set<Int>) -> [String] {
    [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 9, 8, 10].map { "\($0)=\(allowed.contains($0) ? "0,0" : "-2,-2")" } + [
      "99=4,4"
    ]
  }

  @Test func `may_call agrees with the functions, in every call`() async throws {
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
      "informational": Self.informational, "event": Self.event,
    ]
    for (phase, answers) in expected {
      let told = lines.filter { $0.hasPrefix("\(phase).") }.map { String($0.dropFirst(phase.utf8.count + 1)) }
      #expect(Array(told.prefix(answers.count)) == answers, "\(phase)")
    }
    // A token was taken if that is possible.
    for phase in ["request", "redirect", "challenge", "response", "response-piece"] {
      #expect(lines.contains("\(phase)-again=2"), "\(phase)")
    }
    for phase in ["issue", "event", "informational"] { #expect(lines.contains("\(phase)-again=-2"), "\(phase)") }
  }

  @Test func `may_call agrees with the functions, without a response`() async throws {
    let lines = try await lines("http://127.0.0.1:\(try Loopback.freePort())")
    let told = lines.filter { $0.hasPrefix("failure.") }.map { String($0.dropFirst(8)) }
    #expect(Array(told.prefix(Self.failure.count)) == Self.failure)
  }

  private func lines(_ url: String) async throws -> [String] {
    let product = try await PluginCompiler.compile("asks-first")
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
