import Glibc
import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Limits and files that a stage sets for its exchange, and informational responses that the stage gets.
@Suite struct ExchangeLimitTests {
  private struct Run {
    let result: TransactionResult
    let lines: [String]

    func told(_ name: String) -> [String] {
      lines.filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
  }

  private func run(
    plugin: String = "sets-limits", defines: [String] = [], _ request: Request,
    members: String = #""request": ["stage"], "response": ["stage"]"#
  ) async throws -> Run {
    let product = try await PluginCompiler.compile(plugin, defines: defines)
    chmod(product.path, 0o755)
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)"}}, \(members)}
      """
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    let result = await engine.transaction(request)
    await engine.shutdown()
    withExtendedLifetime(product) {}
    return Run(result: result, lines: log.value)
  }

  @Test func `a stage's deadline ends the transaction, and the error says that a stage has set it`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let run = try await run(defines: ["TIMEOUT_NS=50000000"], Request(url: HTTPURL(server.baseURL + "/")))
    server.release()
    #expect(run.result.error?.code == "deadline")
    #expect(
      run.result.error?.message.contains(", which a stage has set") == true, "\(String(describing: run.result.error))")
    #expect(run.told("timeout") == ["0"])
  }

  @Test func `a stage's deadline never extends the configured one`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let run = try await run(
      defines: ["TIMEOUT_NS=3600000000000"], Request(url: HTTPURL(server.baseURL + "/")),
      members: #""request": ["stage"], "deadline": "50ms""#)
    server.release()
    #expect(run.result.error?.code == "deadline" && run.result.error?.message.contains("(deadline)") == true)
  }

  @Test func `a stage can limit the time of each attempt on the wire`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let run = try await run(defines: ["ATTEMPT_TIMEOUT_NS=50000000"], Request(url: HTTPURL(server.baseURL + "/")))
    server.release()
    #expect(run.result.error?.code == "timeout")
    #expect(run.result.error?.message.contains("within 0.05 seconds, which a stage has set") == true)
  }

  @Test func `a stage can limit the size of the response body`() async throws {
    let server = try LoopbackServer { _ in .text("123456") }
    defer { server.stop() }
    let url = try HTTPURL(server.baseURL + "/")
    let short = try await run(defines: ["RESPONSE_BYTES=6"], Request(url: url))
    #expect(short.result.error == nil)
    let long = try await run(defines: ["RESPONSE_BYTES=5"], Request(url: url))
    #expect(long.result.error?.code == "response_too_large")
  }

  @Test func `a stage can limit the number of attempts`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(status: 503) }
    defer { server.stop() }
    let run = try await run(
      defines: ["ATTEMPTS=2"], Request(url: HTTPURL(server.baseURL + "/")),
      members:
        #""request": ["stage"], "retry": {"maxAttempts": 5, "statuses": [503], "backoff": {"base": "1ms", "max": "1ms"}}"#
    )
    #expect(run.result.attempts == 2 && server.requests.count == 2)
  }

  @Test func `invalid limits, and limits that are set too late, are refused`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let run = try await run(Request(url: HTTPURL(server.baseURL + "/")))
    #expect(run.result.error == nil)
    #expect(run.told("zero") == ["-1"] && run.told("unknown") == ["-1"] && run.told("late-limit") == ["-2"])
    #expect(run.told("relative") == ["-1"] && run.told("folder") == ["-4"] && run.told("late-file") == ["-2"])
  }

  @Test func `a stage can set a file as the request body, and only a file that the stage gives away is removed`()
    async throws
  {
    let server = try LoopbackServer { ServerResponse(status: 200, body: .bytes($0.body)) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    for flags in [0, 1] {
      let path = try folder.write("from a file", to: "body-\(flags)")
      let request = Request(method: "PUT", url: try HTTPURL(server.baseURL + "/"), body: .text("from the caller"))
      do {
        let run = try await run(defines: ["REQUEST_FILE=\"\(path)\"", "FLAGS=\(flags)"], request)
        #expect(run.told("request-file") == ["0"])
        #expect(run.result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } == "from a file")
      }
      // The result has been released at this point. It held the sent request, and with it the file.
      #expect(FileTree.names(in: folder.path).contains("body-\(flags)") == (flags == 0))
    }
  }

  @Test func `a stage can set a file as the response body`() async throws {
    let server = try LoopbackServer { _ in .text("from the server") }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let path = try folder.write("from a file", to: "body")
    let run = try await run(
      defines: ["RESPONSE_FILE=\"\(path)\""], Request(url: HTTPURL(server.baseURL + "/")))
    #expect(run.told("response-file") == ["0"])
    guard case .file(let file)? = run.result.response?.body else {
      Issue.record("\(String(describing: run.result.response?.body))")
      return
    }
    #expect(file.path == path && file.byteCount == 11)
  }

  @Test func `a file that cannot be the body is removed if its removal was requested`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let path = folder.path("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    let run = try await run(
      defines: ["REQUEST_FILE=\"\(path)\"", "FLAGS=1"], Request(url: HTTPURL(server.baseURL + "/")))
    #expect(run.told("request-file") == ["-4"] && FileTree.names(in: folder.path) == [])
    #expect(run.lines.contains { $0.contains("is not a regular file that can be read") })
  }

  @Test func `informational responses are reported with their headers before the final response`() async throws {
    let server = try ScriptedServer(
      .receiveHead,
      .send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-B: c\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"),
      .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let run = try await run(
      plugin: "tells-informational", Request(url: HTTPURL(server.baseURL)), members: #""response": ["stage"]"#)
    #expect(run.result.error == nil, "\(String(describing: run.result.error))")
    #expect(run.told("informational") == ["103", "102"])
    #expect(run.told("name") == ["Link", "X-B"] && run.told("value") == ["</a>", "c"])
    #expect(
      run.told("context") == ["0", "0"] && run.told("write") == ["-2", "-2"] && run.told("suspend") == ["-2", "-2"])
    let order = run.lines.filter { $0.hasPrefix("informational=") || $0.hasPrefix("response=") }
    #expect(order.last == "response=200")
  }
}
