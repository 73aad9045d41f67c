import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Bodies, limits, files, connections and informational responses from a Swift plugin.
@Suite struct SwiftBodyTests {
  private static func run(
    _ url: String, _ headers: HeaderFields = [:], body: Body = .empty, members: String = ""
  ) async throws -> (result: TransactionResult, lines: [String]) {
    let text = """
      {"plugins": {"stage": {"library": "\(BuiltProducts.library("swift-bodies"))"}},
       "request": ["stage"], "issue": ["stage"], "response": ["stage"]\(members)}
      """
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    let result = await engine.transaction(
      Request(method: "PUT", url: try HTTPURL(url), headers: headers, body: body))
    await engine.shutdown()
    return (result, log.value)
  }

  private static func text(_ result: TransactionResult) -> String? {
    result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  private func echo() throws -> LoopbackServer {
    try LoopbackServer { ServerResponse(status: 200, body: .bytes($0.body)) }
  }

  @Test(arguments: [("pass", "abc"), ("upper", "ABC|3|5"), ("wait", "ABC|3|5")])
  func `a transform handles both bodies, at once or after a wait`(_ what: String, _ expected: String) async throws {
    let server = try echo()
    defer { server.stop() }
    let (result, lines) = try await Self.run(server.baseURL + "/", ["x-bodies": what], body: .text("abc"))
    #expect(result.error == nil, "\(String(describing: result.error))")
    #expect(Self.text(result) == expected)
    // The stage was asked once for each body.
    #expect(lines.filter { $0.hasPrefix("body=") } == ["body=request 0.0 0", "body=response 0.0 200"])
    // The plugin's own data is not touched.
    #expect(result.response?.headers["x-data"] == "kept")
  }

  @Test func `each hop and each attempt has its own transform`() async throws {
    let server = try LoopbackServer { request in
      guard request.target == "/b" else {
        return ServerResponse(status: 307, headers: [HeaderLine("Location", "/b")])
      }
      return ServerResponse(status: 503, body: .bytes(request.body))
    }
    defer { server.stop() }
    let (result, lines) = try await Self.run(
      server.baseURL + "/a", ["x-bodies": "upper"], body: .text("ab"),
      members: """
        , "retry": {"maxAttempts": 2, "statuses": [503], "methods": ["PUT"], "backoff": {"base": "1ms", "max": "1ms"}}
        """)
    #expect(result.response?.status == 503 && result.attempts == 2)
    let requests = lines.filter { $0.hasPrefix("body=request") }
    #expect(requests == ["0.0", "0.1", "1.0", "1.1"].map { "body=request \($0) 0" })
    // Every request body began with the caller's bytes.
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == Array(repeating: "AB|2", count: 4))
  }

  @Test func `a transform that throws fails the transaction, and the error names the stage`() async throws {
    let server = try echo()
    defer { server.stop() }
    let (result, _) = try await Self.run(server.baseURL + "/", ["x-bodies": "fail"], body: .text("abc"))
    #expect(result.error?.stage == "stage" && result.error?.message == "the piece is broken")
    #expect(Self.text(result)?.isEmpty != false)
  }

  @Test func `a stage sets a limit and a file, and sees the issued headers and the connection`() async throws {
    let server = try echo()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let path = try folder.write("12345", to: "body")
    let (result, _) = try await Self.run(server.baseURL + "/", ["x-file": path, "x-limit": "5"])
    #expect(result.error == nil && Self.text(result) == "12345", "\(String(describing: result.error))")
    #expect(result.response?.headers["x-issued"] == "blue")
    #expect(result.response?.headers["x-connection"] == "true true \(server.port)")
    let (long, _) = try await Self.run(server.baseURL + "/", ["x-file": path, "x-limit": "4"])
    #expect(long.error?.code == "response_too_large")
  }

  @Test func `a stage gets informational responses`() async throws {
    let server = try ScriptedServer(
      .receiveHead,
      .send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let (result, lines) = try await Self.run(server.baseURL)
    #expect(result.error == nil)
    #expect(lines.contains("informational=103 Link: </a> blue"), "\(lines)")
  }
}
