import Glibc
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice run` over many lines.
@Suite struct RunTests {
  /// The number of lines: 2,000, or 100,000 if SLUICE_SOAK is set.
  static let lineCount = Tool.isSoak ? 100_000 : 2_000

  private func input(_ count: Int, _ url: String) -> String {
    (0..<count).map { #"{"id": "r\#($0)", "url": "\#(url)?n=\#($0)"}"# + "\n" }.joined()
  }

  private func expectEachOnce(_ result: CommandResult, _ count: Int) throws -> [JSONValue] {
    let documents = try result.documents
    #expect(documents.count == count)
    #expect(Set(documents.compactMap { $0["id"]?.string }) == Set((0..<count).map { "r\($0)" }))
    return documents
  }

  @Test func `every line has exactly one result, over HTTP 1.1`() async throws {
    guard NginxServer.isAvailable else { return }
    let server = try await NginxServer.start()
    defer { withExtendedLifetime(server) {} }
    let result = try await Tool.run("run", "-q", input: input(Self.lineCount, server.baseURL + "/json"))
    let documents = try expectEachOnce(result, Self.lineCount)
    #expect(documents.allSatisfy { $0.status == 200 && $0["error"] == nil })
    #expect(result.status == 0)
    #expect(result.errorText.isEmpty)
    #expect(try server.requestCount() == Self.lineCount + 1)
  }

  @Test func `every line has exactly one result, over HTTP 2 with TLS on two loops`() async throws {
    guard NginxServer.isAvailable else { return }
    let certificates = try await TestCertificates.shared()
    let server = try await NginxServer.start(certificates: certificates)
    defer { withExtendedLifetime(server) {} }
    let folder = try TemporaryDirectory()
    let text =
      #"{"transport": {"loops": 2, "baseURL": "\#(server.secureBaseURL)", "tls": {"ca": "\#(certificates.authority)"}}}"#
    let file = try folder.write(text, to: "c.json")
    let result = try await Tool.run("run", "-q", "--metadata", "-c", file, input: input(Self.lineCount, "/json"))
    let documents = try expectEachOnce(result, Self.lineCount)
    #expect(documents.allSatisfy { $0.status == 200 && $0["metadata"]?["httpVersion"]?.string == "2" })
    #expect(result.status == 0)
  }

  /// The server has sent much of a response when this side gives it up.
  @Test(arguments: [#", "maxResponseBytes": 100000"#, #", "maxResponseBytes": 50000000"#])
  func `responses that are too large or too late do not disturb other requests, over HTTP 2`(
    _ limit: String
  ) async throws {
    guard NginxServer.isAvailable else { return }
    let certificates = try await TestCertificates.shared()
    var configuration = NginxConfiguration()
    configuration.bigFileBytes = 30_000_000
    let server = try await NginxServer.start(configuration, certificates: certificates)
    defer { withExtendedLifetime(server) {} }
    let folder = try TemporaryDirectory()
    let text =
      #"{"transport": {"baseURL": "\#(server.secureBaseURL)", "tls": {"ca": "\#(certificates.authority)"}\#(limit)}}"#
    let file = try folder.write(text, to: "c.json")
    let input = (0..<40).map { number in
      #"{"id": "big", "url": "/big", "timeout": "0.02s"}"# + "\n"
        + #"{"id": "post", "method": "POST", "url": "/post", "body": {"text": "\#(number)"}}"# + "\n"
    }
    let result = try await Tool.run("run", "-q", "-c", file, input: input.joined())
    let documents = try result.documents
    #expect(documents.count == 80)
    let posts = documents.filter { $0["id"]?.string == "post" }
    #expect(posts.count == 40 && posts.allSatisfy { $0.status == 200 && $0["error"] == nil }, "\(posts)")
    let codes = Set(documents.filter { $0["id"]?.string == "big" }.map { $0["error"]?["code"]?.string })
    #expect(codes.isSubset(of: ["deadline", "response_too_large"]), "\(codes)")
  }

  @Test(arguments: ["", #", "maxConnectionsPerHost": 1"#])
  func `after a request that gave up during a TLS handshake, the next one uses another connection`(
    _ limit: String
  ) async throws {
    guard NginxServer.isAvailable else { return }
    let certificates = try await TestCertificates.shared()
    let server = try await NginxServer.start(certificates: certificates)
    defer { withExtendedLifetime(server) {} }
    // The first connection gets no answer to its ClientHello.
    let relay = try ScriptedServer([[.receiveToEnd], [.tunnel(toPort: server.securePort)]])
    let folder = try TemporaryDirectory()
    let text = """
      {"transport": {"connectTimeout": "300s", "tls": {"ca": "\(certificates.authority)"}\(limit)}}
      """
    let file = try folder.write(text, to: "c.json")
    let url = "https://localhost:\(relay.port)/json"
    let lines = [(1, "300ms"), (2, "250s"), (3, "250s")].map {
      #"{"id": "\#($0.0)", "url": "\#(url)", "timeout": "\#($0.1)"}"# + "\n"
    }
    let result = try await Tool.run("run", "-q", "-c", file, "--concurrency", "1", input: lines.joined())
    #expect(try result.documents.map(\.status) == [nil, 200, 200], "\(result.outputText)")
    #expect(relay.connectionCount == 2)
  }

  @Test func `a request that gives up does not restart the connection attempts of the others`() async throws {
    // No connection gets an answer to its ClientHello.
    let server = try ScriptedServer(.receiveToEnd)
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"transport": {"connectTimeout": "300s", "httpVersion": "1.1"}}"#, to: "c.json")
    let lines = ["300ms", "1s", "1s", "1s", "1s"].map {
      #"{"url": "https://127.0.0.1:\#(server.port)/", "timeout": "\#($0)"}"# + "\n"
    }
    let result = try await Tool.run("run", "-q", "-c", file, input: lines.joined())
    #expect(try result.documents.count == lines.count)
    try await server.waitForConnections(lines.count)
    #expect(server.connectionCount == lines.count)
  }

  @Test func `if descriptors run out, idle connections are closed for requests to other servers`() async throws {
    let servers = try (0..<80).map { _ in try ScriptedServer([ScriptStep.respond(body: "x") + [.receiveToEnd]]) }
    let folder = try TemporaryDirectory()
    let lines = servers.map { #"{"url": "\#($0.baseURL)/"}"# + "\n" }
    let file = try folder.write(lines.joined(), to: "in.jsonl")
    let result = try await Command.run(
      "sh", ["-c", "ulimit -n 64 && exec \(Tool.path) run -q --concurrency 1 -i \(file)"], environment: Tool.cleared)
    #expect(try result.documents.count { $0.status == 200 } == servers.count, "\(result.errorText)")
  }

  /// A request that a stage answers never waits. A loop that only began such requests would never read from the wire.
  @Test func `a request on the wire is answered while many others are answered by a stage`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("answers-itself")
    chmod(product.path, 0o755)
    let folder = try TemporaryDirectory()
    let text = """
      {"plugins": {"stage": {"library": "\(product.path)"}}, "request": ["stage"], "transport": {"loops": 1}}
      """
    let file = try folder.write(text, to: "c.json")
    let count = 60_000
    let own = String(repeating: #"{"url":"\#(server.baseURL)/own"}"# + "\n", count: count)
    let wire = #"{"id":"wire","url":"\#(server.baseURL)/wire"}"# + "\n"
    let result = try await Tool.run("run", "-q", "-c", file, "--concurrency", "64", input: wire + own)
    let documents = try result.documents
    #expect(documents.count == count + 1)
    let index = try #require(documents.firstIndex { $0["id"] == "wire" })
    #expect(documents[index].status == 200 && index < count / 2, "after \(index) others: \(documents[index])")
    withExtendedLifetime(product) {}
  }

  @Test func `if the server is killed half-way, nothing is lost and the status is 1`() async throws {
    guard NginxServer.isAvailable else { return }
    let server = try await NginxServer.start()
    defer { withExtendedLifetime(server) {} }
    let running = try Tool.start("run", "-q", "--concurrency", "16")
    let text = input(Self.lineCount, server.baseURL + "/json")
    let half = text.utf8.count / 2
    try running.write(Array(text.utf8.prefix(half)))
    try await running.waitForOutput(containing: "\"r\(Self.lineCount / 4)\"")
    try await server.kill()
    running.writeAndClose(Array(text.utf8.dropFirst(half)))
    let result = try await running.wait()
    let documents = try expectEachOnce(result, Self.lineCount)
    #expect(documents.contains { $0.status == 200 })
    #expect(documents.contains { $0.errorCode == "connect" })
    #expect(result.status == 1)
  }

  @Test func `memory does not grow with the number of lines`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let running = try Tool.start("run", "-q")
    let block = Array(input(2_000, server.baseURL).utf8)
    try running.write(block)
    try await server.waitForRequests(1_900)
    let early = try #require(ProcessFacts(of: running.processID).residentBytes)
    for _ in 0..<(Tool.isSoak ? 50 : 4) { try running.write(block) }
    try await server.waitForRequests(Tool.isSoak ? 100_000 : 9_900, upTo: .seconds(120))
    let late = try #require(ProcessFacts(of: running.processID).residentBytes)
    running.closeInput()
    #expect(try await running.wait().status == 0)
    #expect(Sanitizer.isOn || late - early < 8 << 20)
  }

  /// Compares runs with 2,000 and 50,000 lines, or with 10,000 and 1,000,000 if SLUICE_SOAK is set.
  @Test func `from file to file, many lines need no more memory than few lines`() async throws {
    let (few, many) = Tool.isSoak ? (10_000, 1_000_000) : (2_000, 50_000)
    let (early, late) = (try await peakBytes(of: few), try await peakBytes(of: many))
    // With SLUICE_SOAK, the test notices one more byte for each line. Otherwise, it notices about a hundred more bytes
    // for each line.
    let room = Tool.isSoak ? 1 << 20 : 4 << 20
    #expect(Sanitizer.isOn || late - early < room, "\(early >> 10) KiB, then \(late >> 10) KiB")
  }

  /// Returns the peak memory of a run with this many lines. It is read while the last request waits for its answer.
  private func peakBytes(of count: Int) async throws -> Int {
    let last = Watched<DeferredResponse?>(nil)
    let server = try LoopbackServer(recording: .countOnly) { request in
      guard request.target == "/last" else { return .text("ok\n") }
      return .deferred { answer in last.update { $0 = answer } }
    }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let end = #"{"url": "\#(server.baseURL)/last"}"# + "\n"
    let input = try folder.write(input(count - 1, server.baseURL) + end, to: "in.jsonl")
    let output = folder.path("out.jsonl")
    let running = try Tool.start("run", "-q", "-i", input, "-o", output)
    try await server.waitForRequests(count, upTo: Tool.isSoak ? .seconds(1800) : .seconds(120))
    try await last.wait(for: "the last request") { $0 != nil }
    let peak = try #require(ProcessFacts(of: running.processID).peakResidentBytes)
    last.value?.complete(with: .text("ok\n"))
    let result = try await running.wait()
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try FileTree.read(output).count { $0 == 0x0A } == count)
    return peak
  }

  @Test func `results have the ids of their lines unchanged, and the line number if there is no id`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let url = server.baseURL
    let lines = ["7", "1.5", "true", "null", #""a""#].map { #"{"id": \#($0), "url": "\#(url)"}"# }
    let text = lines.joined(separator: "\r\n") + "\r\n\n{\"url\": \"\(url)\"}"
    let documents = try await Tool.run("run", "-q", input: text).documents
    let ids = Set(documents.compactMap { $0["id"]?.description })
    #expect(ids == ["7", "1.5", "true", "null", #""a""#])
    #expect(documents.filter { $0["id"]?.integer == 7 }.count == 2)
  }

  @Test func `method, headers, body and timeout of a line are used for its request`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let line =
      #"{"method":"PATCH","url":"\#(server.baseURL)/p","headers":{"X-A":["1","2"]},"body":{"json":{"k":1}},"timeout":"20s"}"#
    let result = try await Tool.run("run", "-q", input: line)
    #expect(result.status == 0)
    let request = try #require(server.requests.first)
    #expect(request.method == "PATCH")
    #expect(String(decoding: request.body, as: UTF8.self) == #"{"k":1}"#)
    #expect(request.headers.filter { $0.name.lowercased() == "x-a" }.map(\.value) == ["1", "2"])
    #expect(request.headers.first("content-type") == "application/json")
  }

  @Test func `numbers of a line are sent and come back in the id as they are spelled`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let line =
      #"{"id":19.990, "method":"POST","url":"\#(server.baseURL)","#
      + #""body" : { "json" : {"price": 1.10, "tax":[ 0.1,1E5,-0 ], "s": "\u0041 \\\" :,\\", "none": {} } } }"#
    let result = try await Tool.run("run", "-q", input: line)
    #expect(result.outputText.contains(#"{"id":19.990,"#), "\(result.outputText)")
    let body = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
    #expect(body == #"{"price":1.10,"tax":[0.1,1E5,-0],"s":"\u0041 \\\" :,\\","none":{}}"#)
  }

  @Test func `the trace context of the environment is the parent of each request`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let result = try await Tool.run(
      "run", "-q", input: #"{"url":"\#(server.baseURL)"}"#,
      environment: ["TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"])
    #expect(result.status == 0)
  }

  @Test func `no more requests than --concurrency are in flight, and --rate is not exceeded`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let running = try Tool.start("run", "-q", "--concurrency", "3")
    try running.write(input(10, server.baseURL))
    running.closeInput()
    try await server.waitForHeld(3)
    #expect(server.requestCount == 3)
    server.release()
    #expect(try await running.wait().documents.count == 10)
    let clock = ContinuousClock()
    let time = try await clock.measure {
      _ = try await Tool.run("run", "-q", "--rate", "50/s", input: input(11, server.baseURL))
    }
    #expect(time >= .milliseconds(180))
  }

  @Test func `the summary has the counts, and contains no terminal codes if it is written to a pipe`() async throws {
    let server = try LoopbackServer { request in
      request.path == "/no" ? ServerResponse(status: 500) : .text("ok")
    }
    defer { server.stop() }
    let text = #"{"url":"\#(server.baseURL)/"}"# + "\nbad\n" + #"{"url":"\#(server.baseURL)/no"}"# + "\n"
    let result = try await Tool.run("run", input: text)
    #expect(result.status == 1)
    #expect(result.errorText.contains("3 requests in "))
    #expect(result.errorText.contains("2 failed, 1 of them not valid request lines"))
    for word in ["2xx", "5xx", "latency", "p99"] { #expect(result.errorText.contains(word)) }
    #expect(!result.errorText.contains("\u{1B}") && !result.outputText.contains("\u{1B}"))
    #expect(!result.errorText.contains("\r"))
  }

  @Test func `the summary as JSON has percentiles of the latency, if there was a request`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    for (text, hasLatency) in [(input(20, server.baseURL), true), ("bad\n", false)] {
      let result = try await Tool.run("run", "--log-format", "json", input: text)
      let summary = try JSONValue(parsing: result.errorText)["run"]
      let latency = summary?["latency"]
      #expect((latency != nil) == hasLatency, "\(result.errorText)")
      guard let latency else { continue }
      let times = try ["p50Ms", "p90Ms", "p99Ms", "maxMs"].map { try #require(latency[$0]?.real) }
      #expect(times == times.sorted() && times[0] > 0)
    }
  }

  @Test func `a result that cannot be written becomes an error result, and counts as failed`() async throws {
    let run = try await SpillingRun()
    defer { run.server.stop() }
    // With this limit, the process cannot open the file with the response's body for reading.
    _ = try await Command.run("prlimit", ["--pid", "\(run.running.processID)", "--nofile=1:1"])
    run.hasRest.set()
    let result = try await run.running.wait(upTo: Patience.limit)
    let document = try #require(try result.documents.first)
    #expect(document.errorCode == "invalid_result")
    #expect(document.errorMessage?.contains("cannot be written: cannot read /proc/") == true, "\(document)")
    #expect(result.status == 1)
    #expect(result.errorText.contains(", 1 failed"), "\(result.errorText)")
  }

  @Test func `a killed process leaves no file with a body behind`() async throws {
    let run = try await SpillingRun()
    defer { run.server.stop() }
    run.running.send(signal: SIGKILL)
    run.hasRest.set()
    #expect(try await run.running.wait(upTo: Patience.limit).status == 128 + SIGKILL)
    #expect(FileTree.names(in: run.bodies) == [])
  }

  @Test func `a concurrency above limits_transactions is refused, and the default is at most this limit`() async throws
  {
    let folder = try TemporaryDirectory()
    let file = try folder.write(#"{"limits": {"transactions": 2}}"#, to: "c.json")
    let refused = try await Tool.run("run", "-c", file, "--concurrency", "3")
    #expect(refused.status == 2)
    #expect(refused.errorText.contains("--concurrency: 3 is more than limits.transactions allows, which is 2"))
    let server = try LoopbackServer()
    defer { server.stop() }
    let lines = String(repeating: #"{"url": "\#(server.baseURL)"}"# + "\n", count: 20)
    for arguments in [["run", "-q", "-c", file], ["run", "-q", "-c", file, "--concurrency", "2"]] {
      let result = try await Command.run(
        Tool.path, arguments, environment: Tool.cleared, standardInput: Array(lines.utf8))
      #expect(try result.documents.map(\.status) == Array(repeating: 200, count: 20))
    }
  }

  @Test func `large bodies are complete in the result`() async throws {
    let server = try LoopbackServer { _ in .text(String(repeating: "x", count: 3 << 20)) }
    defer { server.stop() }
    let documents = try await Tool.run("run", "-q", input: #"{"url":"\#(server.baseURL)"}"#).documents
    #expect(documents.first?["response"]?["body"]?["text"]?.string?.utf8.count == 3 << 20)
  }
}

/// A run with one response. Half of its body has arrived and is kept in a file.
private struct SpillingRun {
  let hasRest = Signal()
  let server: ScriptedServer
  let folder: TemporaryDirectory
  let bodies: String
  let running: RunningCommand

  init() async throws {
    folder = try TemporaryDirectory()
    let half = String(repeating: "x", count: 20)
    let hasRequest = Signal()
    server = try ScriptedServer(
      .receiveHead, .signal(hasRequest), .send("HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n" + half), .wait(hasRest),
      .send(half))
    let file = try folder.write(#"{"transport": {"spillBytes": 10}}"#, to: "c.json")
    bodies = try folder.makeFolder("bodies")
    running = try Tool.start("run", "-c", file, environment: ["TMPDIR": bodies])
    running.writeAndClose(Array(#"{"url": "\#(server.baseURL)"}"#.utf8))
    // Before the request, a sanitizer can have its own file in this folder.
    try await hasRequest.wait()
    let end = ContinuousClock.now + Patience.limit
    while !hasOpenBody, ContinuousClock.now < end { await Task.yield() }
    try #require(hasOpenBody)
  }

  private var hasOpenBody: Bool {
    ProcessFacts(of: running.processID).openFiles.keys.contains { $0.hasPrefix(bodies + "/") }
  }
}
