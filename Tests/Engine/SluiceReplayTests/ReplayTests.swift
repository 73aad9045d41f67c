import Sluice
import SluicePipeline
import SluicePluginHost
import SluiceReplay
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Replays of recorded transactions through an old and a new build, in child processes.
@Suite struct ReplayTests {
  private static func lines(_ report: ReplayReport) -> [String] {
    report.comparisons.flatMap { comparison in
      comparison.differences.map { difference in
        let place = difference.stage.map { "stage \($0)" } ?? "result"
        return "\(place), \(difference.subject): \(difference.old ?? "-") → \(difference.new ?? "-")"
      }
    }
  }

  @Test func `a replay shows exactly the differences between two builds`() async throws {
    let fixture = try await ReplayFixture(new: [#"BUILD="2""#])
    let recordings = try await fixture.record("/a?sig=s", [:], ["x-late": "1"])
    let report = try await fixture.compare(recordings)
    #expect(report.failures.isEmpty && report.omissions.isEmpty)
    #expect(report.comparisons.map(\.index) == [0, 1])
    let expected = [
      "stage a, header x-build: 1 → 2", "stage a, header x-build: 1 → 2", "result, header x-build: 1 → 2",
    ]
    #expect(Self.lines(report) == expected + expected)
    #expect(report.comparisons.first?.request == "GET \(fixture.server.baseURL)/a?sig=REDACTED")
    #expect(report.comparisons.first?.differences.map(\.callback) == [.request, .response, nil])
  }

  @Test func `the same build has no differences, in spite of the host's random values`() async throws {
    let count = Locked(0)
    let fixture = try await ReplayFixture(
      plugins: #", "headers": {"builtin": "headers", "config": {"hosts": ["*"]}}"#,
      issue: #""a", "headers""#, more: #", "retry": {"statuses": [503], "backoff": {"base": "1ms"}}"#
    ) { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return ServerResponse(status: number == 1 ? 503 : 200)
    }
    let recordings = try await fixture.record("/", [:], ["x-late": "1"])
    #expect(recordings.map(\.hops.count) == [2, 1])
    let report = try await fixture.compare(recordings)
    #expect(report.isSame && report.comparisons.allSatisfy(\.varying.isEmpty), "\(report.text())")
    #expect(report.text() == "2 requests: same")
  }

  @Test func `the child process looks up names of installed plugins in the same folder as this process`() async throws {
    let folder = try TemporaryDirectory()
    let server = try LoopbackServer()
    defer { server.stop() }
    let plugins = InstalledPlugins(in: BuiltProducts.directory)
    let text = """
      {"plugins": {"a": {"library": "static-headers", "config": {"request": {"x-team": "core"}}}}, "request": ["a"],
       "store": "\(folder.path("store"))"}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8), installedPlugins: plugins))
    var request = Request(url: try HTTPURL(server.baseURL))
    request.wantsRecording = true
    let recording = try #require(await engine.transaction(request).recording)
    await engine.shutdown()
    var build = Replay.Build(configuration: Array(text.utf8))
    build.installedPlugins = plugins
    let report = try await ReplayFixture.replay().compare([recording], old: build, new: build)
    #expect(report.isSame && report.comparisons.count == 1, "\(report.text())")
  }

  @Test func `a different secret is a difference, and is not shown`() async throws {
    let fixture = try await ReplayFixture(new: [#"SECRET="Bearer two""#])
    let report = try await fixture.compare(try await fixture.record())
    let difference = try #require(report.comparisons.first?.differences.first)
    #expect(difference.subject == "header x-api-key")
    #expect(difference.old?.hasPrefix("REDACTED [") == true && difference.new?.hasPrefix("REDACTED [") == true)
    #expect(!report.text().contains("Bearer") && !"\(report.document)".contains("Bearer"))
  }

  @Test func `a value that varies between runs of one build is reported separately`() async throws {
    let fixture = try await ReplayFixture(new: [#"BUILD="2""#])
    let report = try await fixture.compare(try await fixture.record("/", ["x-varies": "1"]))
    #expect(report.comparisons.first?.varying.map(\.subject) == ["header x-now"])
    #expect(Set(report.comparisons.first?.differences.map(\.subject) ?? []) == ["header x-build"])
    #expect(report.text().hasSuffix("varies between runs of one build: a header x-now"))
  }

  @Test func `in a replay, the wall clock of the host shows the time of the recording`() async throws {
    let fixture = try await ReplayFixture()
    let recordings = try await fixture.record("/", ["x-dated": "1"])
    let report = try await fixture.compare(recordings)
    #expect(
      report.comparisons.map(\.notCompared) == [[]] && report.comparisons.allSatisfy(\.differences.isEmpty),
      "\(report.text())")
  }

  @Test(arguments: [["TIMEOUT_NS=2000000000"], []])
  func `another limit of a stage is a difference`(_ new: [String]) async throws {
    let fixture = try await ReplayFixture(old: ["TIMEOUT_NS=1000000000000"], new: new)
    let report = try await fixture.compare(try await fixture.record())
    let after = new.isEmpty ? "-" : "2.0 seconds"
    #expect(Self.lines(report) == ["stage a, limit timeout: 1000.0 seconds → \(after)"], "\(report.text())")
  }

  @Test(arguments: ["", "head", "x"])
  func `a request that ended at its deadline is replayed, before the response and in its body`(
    _ part: String
  ) async throws {
    // The connection stays open after this part of the response.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    let end = Signal()
    let server = try ScriptedServer([
      [.receiveHead, .send(part.isEmpty ? "" : head + (part == "x" ? "x" : "")), .wait(end)]
    ])
    defer {
      end.set()
      server.stop()
    }
    let timeout = "TIMEOUT_NS=1000000000"
    let fixture = try await ReplayFixture(old: [timeout], new: [timeout, #"BUILD="2""#])
    var request = try fixture.request()
    request.url = try HTTPURL(server.baseURL + "/")
    let recordings = try await fixture.record([request])
    #expect(recordings.first?.hops.last?.error?.code == .deadline)
    let report = try await fixture.compare(recordings)
    // Once the head is there, the response stage has run, and the result has the response.
    let hasHead = recordings.first?.hops.last?.response != nil
    let places = hasHead ? ["stage a", "stage a", "result"] : ["stage a"]
    #expect(Self.lines(report) == places.map { "\($0), header x-build: 1 → 2" }, "\(report.text())")
    #expect(report.comparisons.map(\.notCompared) == [[]], "\(report.text())")
  }

  @Test func `a replay takes the responses to redirects and challenges from the recording`() async throws {
    let fixture = try await ReplayFixture(new: [#"SECRET="Bearer two""#]) { request in
      if request.path == "/start" { return ServerResponse(status: 307, headers: [HeaderLine("Location", "/end")]) }
      guard request.headers.first("authorization") == nil else { return .text("ok") }
      return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Bearer realm=\"a\"")])
    }
    var request = try fixture.request("/start")
    request.method = "POST"
    request.body = .text("body")
    let recordings = try await fixture.record([request])
    #expect(recordings.first?.hops.map { $0.response?.status } == [307, 401, 200])
    let report = try await fixture.compare(recordings)
    let differences = try #require(report.comparisons.first?.differences)
    #expect(differences.map(\.subject) == ["header x-api-key", "header authorization"])
    #expect(differences.map(\.callback) == [.request, .challenge] && differences.map(\.hop) == [0, 1])
  }

  @Test func `a replay does not wait before a retry, and the retry fails if the recording has no further hop`()
    async throws
  {
    let fixture = try await ReplayFixture(new: ["RETRIES=1"]) { _ in ServerResponse(status: 503) }
    let started = ContinuousClock.now
    let report = try await fixture.compare(try await fixture.record())
    let lines = Self.lines(report)
    #expect(lines.contains("stage a, verdict: continue → retry after 30.0 seconds"))
    #expect(lines.contains("stage a, call: - → called"))
    #expect(lines.contains("result, error: http_status → not_recorded"))
    #expect(lines.contains("result, attempts: 1 → 2"))
    #expect(started.duration(to: .now) < .seconds(30))
  }

  @Test func `a body that was not recorded is an error for a stage that wants it`() async throws {
    let fixture = try await ReplayFixture(old: [#"BODY="made""#]) { _ in .text("real") }
    let report = try await fixture.compare(try await fixture.record())
    let lines = Self.lines(report)
    #expect(
      lines.contains("stage a, body: \"made\" → -") && lines.contains("result, error: - → not_recorded"), "\(lines)")
  }

  @Test func `a replay that is cancelled ends at once`() async throws {
    let fixture = try await ReplayFixture(old: ["TRAP=for (;;) sluice_text_make(\"\")"])
    var recordings = try await fixture.record()
    for index in recordings.indices { recordings[index].request.headers["x-trap"] = "1" }
    var replay = try ReplayFixture.replay()
    replay.patience = Patience.limit
    let task = Task { [recordings, replay] in try await fixture.compare(recordings, replay) }
    task.cancel()
    let started = ContinuousClock.now
    let error = await #expect(throws: EngineError.self) { try await task.value }
    #expect(error?.description.contains("given up") == true && started.duration(to: .now) < Patience.limit)
  }

  @Test func `a replay repeats recorded transport errors`() async throws {
    let fixture = try await ReplayFixture(new: [#"BUILD="2""#])
    var request = try fixture.request()
    request.url = HTTPURL("http://127.0.0.1:1/")
    let report = try await fixture.compare(try await fixture.record([request]))
    #expect(Self.lines(report) == ["stage a, header x-build: 1 → 2"])
  }

  @Test func `bodies that are large, binary or streamed are replayed`() async throws {
    let large = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    let fixture = try await ReplayFixture(
      new: [#"BODY="new""#], more: #", "transport": {"spillBytes": 1000}"#
    ) { request in .init(body: .bytes(request.path == "/large" ? large : [0, 255, 1])) }
    let pieces = Locked([Array("ab".utf8), [0, 255]])
    var once = try fixture.request()
    once.method = "POST"
    once.body = .stream(BodyStream { _ in pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } })
    let recordings = try await fixture.record([fixture.request("/large"), fixture.request(), once])
    let report = try await fixture.compare(recordings)
    #expect(report.failures.isEmpty && report.omissions.isEmpty)
    let bodies = report.comparisons.map { $0.differences.filter { $0.subject == "body" } }
    #expect(bodies.map(\.count) == [2, 2, 2] && bodies.joined().allSatisfy { $0.new == "\"new\"" })
    #expect(bodies.first?.last?.old?.hasPrefix("200000 bytes in a file, hash ") == true)
    #expect(bodies.dropFirst().first?.last?.old?.hasPrefix("3 bytes, hash ") == true)
  }

  @Test(arguments: [
    ("TRAP=abort()", "crashed with SIGABRT in on_request of \"a\", with request 2 of 3"),
    ("TRAP=exit(3)", "ended the process with status 3 in on_request of \"a\", with request 2 of 3"),
  ])
  func `if a build ends its process, the report names the build and the request`(define: String, reason: String)
    async throws
  {
    let fixture = try await ReplayFixture(new: [define, #"BUILD="2""#])
    let report = try await fixture.compare(try await fixture.record("/", [:], ["x-trap": "1"], [:]))
    #expect(report.failures.map(\.side) == [.new])
    #expect(report.failures.first?.error.reason.contains(reason) == true, "\(report.failures)")
    // The requests that the build finished before it ended are compared.
    #expect(report.omissions.map(\.index) == [1, 2])
    #expect(report.comparisons.map(\.index) == [0])
    #expect(!report.isSame && report.text().hasPrefix("new: library "))
    #expect(report.text().split(separator: "\n").last == "requests 2, 3: not replayed: the new build had ended before")
  }

  @Test(arguments: [
    ("constructor-crashes", "SIGSEGV while it was loaded"),
    ("constructor-exits", "status \(Sanitizer.statusOfExitWhileLoading) while it was loaded"),
    ("create-misbehaves", "SIGABRT in create"),
  ])
  func `a build that cannot be started is reported`(behaviour: String, reason: String) async throws {
    let fixture = try await ReplayFixture()
    let recordings = try await fixture.record()
    let product = try await PluginCompiler.compile(behaviour, defines: ["DOES=abort()"])
    defer { withExtendedLifetime(product) {} }
    let file = fixture.folder.path("sluice.json")
    let report = try await ReplayFixture.replay().compare(
      recordings, old: Replay.Build(file: file, libraries: [fixture.old: product.path]), new: Replay.Build(file: file))
    #expect(report.failures.map(\.side) == [.old])
    #expect(report.failures.first?.error.description.contains(reason) == true, "\(report.failures)")
    #expect(report.text().contains("old: library \(product.path): "), "\(report.text())")
  }

  @Test func `an old build that hangs is reported`() async throws {
    let fixture = try await ReplayFixture(old: ["TRAP=for (;;) sluice_text_make(\"\")"])
    let recordings = try await fixture.record()
    var trapped = recordings
    for index in trapped.indices { trapped[index].request.headers["x-trap"] = "1" }
    var replay = try ReplayFixture.replay()
    replay.patience = .milliseconds(200)
    let report = try await fixture.compare(trapped, replay)
    #expect(report.failures.map(\.side) == [.old])
    #expect(
      report.failures.first?.error.reason
        == "exceeded the time limit in on_request of \"a\", with request 1 of 1", "\(report.failures)")
    #expect(report.omissions.map(\.index) == [0])
    // The server, the recordings and another replay are not affected.
    #expect(try await fixture.compare(recordings, replay).isSame)
  }

  @Test func `a build that cannot be loaded is in the report, and an invalid configuration is thrown`() async throws {
    let fixture = try await ReplayFixture()
    let recordings = try await fixture.record()
    let file = fixture.folder.path("sluice.json")
    let replay = try ReplayFixture.replay()
    let broken = try fixture.folder.write("no library", to: "broken.so")
    let report = try await replay.compare(
      recordings, old: Replay.Build(file: file), new: Replay.Build(file: file, libraries: [fixture.old: broken]))
    #expect(report.failures.map(\.side) == [.new] && report.failures.first?.error.code == .notELF)
    await #expect(throws: EngineError.self) {
      try await replay.compare(
        recordings, old: Replay.Build(file: file), new: Replay.Build(configuration: Array("{".utf8)))
    }
    #expect(throws: ConfigurationError.self) { try Replay.Build(file: "/nowhere.json") }
    let unknown = try Replay.Build(file: file, libraries: ["/nowhere.so": broken])
    let wrong = await #expect(throws: EngineError.self) {
      try await replay.compare(recordings, old: Replay.Build(file: file), new: unknown)
    }
    #expect(wrong?.description.contains("no plugin has the library /nowhere.so") == true)
    let missing = try #require(Replay(helper: "/nowhere/sluice"))
    let error = await #expect(throws: EngineError.self) {
      try await missing.compare(recordings, old: Replay.Build(file: file), new: Replay.Build(file: file))
    }
    #expect(error?.description.contains("/nowhere/sluice") == true)
  }

  @Test func `without recordings there is no difference, incomplete ones are left out, and at most 1,000 are compared`()
    async throws
  {
    let fixture = try await ReplayFixture()
    let none = try await fixture.compare([])
    #expect(none.isSame && none.comparisons.isEmpty)
    var exchange = try #require(try await fixture.record().first)
    exchange.isRequestWhole = false
    let report = try await fixture.compare([exchange])
    #expect(report.omissions.map(\.index) == [0] && report.comparisons.isEmpty)
    exchange.isRequestWhole = true
    let many = try await fixture.compare([RecordedExchange](repeating: exchange, count: 10_000))
    #expect(many.failures.isEmpty)
    #expect(many.comparisons.count == Replay.maximumExchanges && many.comparisons.first?.index == 9000)
    #expect(many.omissions.count == 9000 && many.comparisons.allSatisfy(\.isSame))
  }
}
