import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceReplay
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Trailers of requests, which the caller sets and which stages add and drop. Compiled plugins in a real engine.
@Suite struct RequestTrailerTests {
  private typealias Run = (result: TransactionResult, lines: [String])

  /// Runs a request through the fixture `adds-trailers`, and the stages after it.
  private func run(
    _ request: Request, then others: [(name: String, plugin: String)] = [], members: String = ""
  ) async throws -> Run {
    let product = try await PluginCompiler.compile("adds-trailers")
    chmod(product.path, 0o755)
    let plugins = [("stage", #"{"library": "\#(product.path)"}"#)] + others
    let text = """
      {"plugins": {\(plugins.map { "\"\($0)\": \($1)" }.joined(separator: ", "))},
       "request": [\(plugins.map { "\"\($0.0)\"" }.joined(separator: ", "))]\(members)}
      """
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    let result = await engine.transaction(request)
    await engine.shutdown()
    withExtendedLifetime(product) {}
    return (result, log.value)
  }

  private func request(
    _ url: String, _ body: Body = .text("body"), _ headers: HeaderFields = [:], trailers: HeaderFields = [:]
  ) throws -> Request {
    var request = Request(method: "PUT", url: try HTTPURL(url), headers: headers, body: body)
    request.trailers = trailers
    return request
  }

  private func names(_ request: ServerRequest?) -> [String] { request?.trailers.map(\.name) ?? [] }

  // MARK: Stages

  @Test func `a stage adds a trailer after the trailers of the caller, and drops one of them`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let given: HeaderFields = ["x-keep": "1", "x-drop": "2"]
    let (result, lines) = try await run(request(server.baseURL, trailers: given))
    #expect(result.error == nil, "\(String(describing: result.error))")
    #expect(server.requests.first?.trailers == [HeaderLine("x-keep", "1"), HeaderLine("x-sum", "1")])
    // The head was sent before the stage was called.
    #expect(server.requests.first?.headers.first("Trailer") == "x-keep, x-drop")
    #expect(server.requests.first?.body == Array("body".utf8))
    #expect(lines.filter { $0.hasPrefix("request-trailer=") }.map { $0.dropFirst(16) } == ["x-keep", "x-drop"])
    #expect(result.issuedRequest?.trailers == ["x-keep": "1", "x-sum": "1"])
  }

  @Test func `if a stage must not add a trailer, the call returns a status that says why`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let (_, lines) = try await run(request(server.baseURL))
    let expected = ["barred=-1", "connection=-2", "lines=-1", "name=-1", "other-side=-2", "sum=0"]
    #expect(lines.filter(expected.contains) == expected, "\(lines)")
    #expect(names(server.requests.first) == ["x-sum"])
  }

  @Test(arguments: [(100_000, 1), (100, 65_536)])
  func `a stage cannot add more trailers to a body than a head may have fields and bytes`(
    _ count: Int, _ size: Int
  ) async throws {
    var options = ServerOptions()
    options.connectionMemoryBytes = 1 << 20
    let server = try LoopbackServer(options: options)
    defer { server.stop() }
    let product = try await PluginCompiler.compile("adds-many-trailers", defines: ["COUNT=\(count)", "SIZE=\(size)"])
    chmod(product.path, 0o755)
    let text = #"{"plugins": {"stage": {"library": "\#(product.path)"}}, "request": ["stage"], "response": ["stage"]}"#
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    let result = await engine.transaction(try request(server.baseURL))
    await engine.shutdown()
    withExtendedLifetime(product) {}
    #expect(result.error == nil, "\(String(describing: result.error))")
    let added = size == 1 ? 4096 : 3
    for side in ["request", "response"] {
      #expect(log.value.contains("\(side)-added=\(added)") && log.value.contains("\(side)-answer=5"), "\(log.value)")
    }
    #expect(server.requests.first?.trailers.count == added && result.response?.trailers.count == added)
  }

  @Test(arguments: [true, false])
  func `a document with more trailers than a head may have fields fails the transaction`(
    isRequest: Bool
  ) async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let trailers = JSONValue.object()
    for number in 0...4096 { trailers["x-\(number)"] = "1" }
    var configuration = Configuration()
    configuration.addStage(
      "document",
      StageCode(
        request: { request, _ in if isRequest { request.document(for: .writing)?["trailers"] = trailers } },
        response: { response, _ in if !isRequest { response.document(for: .writing)?["trailers"] = trailers } }))
    let engine = try Engine(configuration)
    let result = await engine.transaction(try request(server.baseURL))
    await engine.shutdown()
    #expect(result.error?.message.contains("more than 4096 trailers") == true, "\(String(describing: result.error))")
    #expect(server.requestCount == (isRequest ? 0 : 1))
  }

  @Test func `a suspended stage adds a trailer before it continues`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let (result, lines) = try await run(request(server.baseURL, .text("body"), ["x-suspends": "1"]))
    #expect(result.error == nil && lines.contains("late=0"), "\(lines)")
    #expect(names(server.requests.first) == ["x-sum", "x-late"])
  }

  @Test func `a body that is gathered for another stage keeps its trailers`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let (result, _) = try await run(
      request(server.baseURL, .text("{}"), ["content-type": "application/json"], trailers: ["x-keep": "1"]),
      then: [editor()])
    #expect(result.error == nil, "\(String(describing: result.error))")
    let sent = try #require(server.requests.first)
    #expect(try JSONValue(parsing: sent.body) == ["tenant": "a"])
    #expect(names(sent) == ["x-keep", "x-sum"])
    // The trailers were known when the head was sent.
    #expect(sent.headers.first("Trailer") == "x-keep, x-sum" && sent.headers.first("Content-Length") == nil)
  }

  @Test(arguments: [("upper", "BODY|4"), ("wait", "BODY|4")])
  func `a transform in Swift adds a trailer to both bodies, and drops one`(
    _ what: String, _ body: String
  ) async throws {
    let server = try LoopbackServer { request in
      ServerResponse(status: 200, body: .bytes(request.body), trailers: [HeaderLine("x-drop", "1")])
    }
    defer { server.stop() }
    let (result, _) = try await runSwift(
      request(
        server.baseURL, .text("body"), ["x-bodies": what, "x-trailers": "x-count"],
        trailers: ["x-drop": "1", "x-keep": "1"]))
    #expect(result.error == nil, "\(String(describing: result.error))")
    let sent = try #require(server.requests.first)
    #expect(sent.body == Array(body.utf8))
    #expect(sent.trailers == [HeaderLine("x-keep", "1"), HeaderLine("x-count", "4")])
    #expect(result.response?.trailers == ["x-count": "6"])
  }

  @Test func `trailers that a stage writes into the request's document are sent`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage(
      "document",
      StageCode(request: { request, _ in request.document(for: .writing)?["trailers"] = ["x-made": "1"] }))
    let engine = try Engine(configuration)
    _ = try await engine.perform(request(server.baseURL))
    await engine.shutdown()
    #expect(server.requests.first?.trailers == [HeaderLine("x-made", "1")])
  }

  // MARK: Requests that cannot have trailers

  @Test func `trailers without a body fail the request before it is sent`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage(
      "empties", StageCode(request: { request, _ in if request.headers["x-empty"] != nil { request.body = nil } }))
    let engine = try Engine(configuration)
    var head = try request(server.baseURL, trailers: ["x-sum": "1"])
    head.method = "HEAD"
    let requests = try [
      request(server.baseURL, .empty, trailers: ["x-sum": "1"]), head,
      request(server.baseURL, .text("body"), ["x-empty": "1"], trailers: ["x-sum": "1"]),
      request(server.baseURL, trailers: ["host": "h"]),
    ]
    for request in requests {
      let result = await engine.transaction(request)
      #expect(result.error?.code == .invalidHeader, "\(String(describing: result.error))")
      #expect(result.error?.message.contains("trailer") == true, "\(String(describing: result.error))")
    }
    await engine.shutdown()
    #expect(server.requests.isEmpty)
  }

  @Test func `over HTTP 1_0, trailers from the caller fail the request`() async throws {
    let engine = try Engine(Configuration(text: Array(#"{"transport": {"httpVersion": "1.0"}}"#.utf8)))
    let result = await engine.transaction(try request("http://127.0.0.1:9/", trailers: ["x-sum": "1"]))
    await engine.shutdown()
    #expect(result.error?.code == .transport, "\(String(describing: result.error))")
    #expect(result.error?.message.contains("HTTP/1.0 has none") == true, "\(String(describing: result.error))")
  }

  @Test func `trailers are sent over TLS`() async throws {
    let certificates = try await TestCertificates.shared()
    let server = try await TLSServer.start(certificates.server)
    let text = #"{"transport": {"tls": {"ca": "\#(certificates.authority)"}}}"#
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    let request = try request(server.baseURL, trailers: ["x-sum": "1"])
    async let result = engine.transaction(request)
    try await server.waitForInput(containing: "x-sum: 1")
    try server.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok\n".utf8))
    #expect(await result.error == nil)
    await engine.shutdown()
  }

  // MARK: Redirects and retries

  @Test func `a redirect to another origin drops secret trailers and trailers that a stage added`() async throws {
    let other = try LoopbackServer()
    defer { other.stop() }
    let target = other.baseURL + "/b"
    let server = try LoopbackServer { _ in ServerResponse(status: 307, headers: [HeaderLine("Location", target)]) }
    defer { server.stop() }
    var request = try request(
      server.baseURL, .text("{}"), ["content-type": "application/json"], trailers: ["x-keep": "1", "x-secret": "1"])
    request.trailers.mark(at: 1, .sensitive)
    let (result, _) = try await run(request, then: [editor()])
    #expect(result.error == nil, "\(String(describing: result.error))")
    #expect(names(server.requests.first) == ["x-keep", "x-secret", "x-sum"])
    #expect(names(other.requests.first) == ["x-keep"])
  }

  @Test func `each hop and each attempt begins with the caller's trailers`() async throws {
    let server = try LoopbackServer { request in
      guard request.target == "/b" else {
        return ServerResponse(status: 307, headers: [HeaderLine("Location", "/b")])
      }
      return ServerResponse(status: 503)
    }
    defer { server.stop() }
    let (result, _) = try await run(
      request(server.baseURL + "/a", trailers: ["x-keep": "1"]),
      members: """
        , "retry": {"maxAttempts": 2, "statuses": [503], "methods": ["PUT"], "backoff": {"base": "1ms", "max": "1ms"}}
        """)
    #expect(result.response?.status == 503 && result.attempts == 2)
    #expect(server.requests.map(names) == Array(repeating: ["x-keep", "x-sum"], count: 4))
  }

  @Test func `a redirect that drops the body drops the trailers`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/b"
        ? .text("ok") : ServerResponse(status: 303, headers: [HeaderLine("Location", "/b")])
    }
    defer { server.stop() }
    let engine = try Engine(Configuration())
    _ = try await engine.perform(request(server.baseURL + "/a", trailers: ["x-keep": "1"]))
    await engine.shutdown()
    #expect(server.requests.map(names) == [["x-keep"], []])
  }

  // MARK: Records

  @Test func `a journal and a recording show the trailers`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage(
      "document",
      StageCode(request: { request, _ in request.document(for: .writing)?["trailers"]?["x-made"] = "1" }))
    let engine = try Engine(configuration)
    var request = try request(server.baseURL, trailers: ["x-keep": "1", "authorization": "secret"])
    request.wantsJournal = true
    request.wantsRecording = true
    let result = await engine.transaction(request)
    await engine.shutdown()
    let change = try #require(result.journal?.flatMap(\.changes).first)
    #expect(change == StageChange(.request, .trailer("x-made"), before: [], after: ["1"]))
    let recording = try #require(result.recording)
    let shown = recording.document(RecordedExchange.Form(secrets: Redactor()))["request"]?["trailers"]
    #expect(shown?["x-keep"] == "1" && shown?["authorization"]?.string?.contains("secret") == false)
  }

  private func editor() -> (name: String, plugin: String) {
    (
      "edit",
      """
      {"library": "\(BuiltProducts.library("json-edit"))", "config": {
        "request": [{"op": "set", "path": "/tenant", "value": "a"}]}}
      """
    )
  }

  private func runSwift(_ request: Request, members: String = "") async throws -> Run {
    let text = """
      {"plugins": {"stage": {"library": "\(BuiltProducts.library("swift-bodies"))"}},
       "request": ["stage"], "issue": ["stage"], "response": ["stage"]\(members)}
      """
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    let result = await engine.transaction(request)
    await engine.shutdown()
    return (result, log.value)
  }
}
