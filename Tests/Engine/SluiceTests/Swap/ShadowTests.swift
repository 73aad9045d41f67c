@testable import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceReplay
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import SluiceTrial
import Testing

/// An engine whose plugin stamps its build into requests and responses, and a server that answers with as many bytes as
/// the path says.
private final class ShadowFixture: EngineFixture {
  let folder: TemporaryDirectory
  let server: LoopbackServer
  let engine: Engine
  let log: Watched<[LogLine]>

  /// - Parameter shadow: the members of the object `swap.shadow`.
  init(
    _ shadow: String, more: String = "", request: String = #"["a"]"#, change: (inout Configuration) -> Void = { _ in }
  ) async throws {
    let folder = try TemporaryDirectory()
    self.folder = folder
    server = try LoopbackServer { request in
      let size = Int(request.path.dropFirst()) ?? 2
      return ServerResponse(body: .bytes(Array(repeating: UInt8(ascii: "a"), count: size)))
    }
    let log = Watched<[LogLine]>([])
    self.log = log
    let text = """
      {"plugins": {"a": {"library": "a.so"}}, "request": \(request), "response": ["a"], "store": "store",
       "swap": {"probation": {"duration": "0s"}, "shadow": {\(shadow)}\(more)}}
      """
    try await Self.install("1", in: folder)
    var configuration = try Configuration(text: Array(text.utf8), file: folder.path("sluice.json"))
    change(&configuration)
    let trial = try #require(HelperTrial(helper: BuiltProducts.executable("sluice")))
    engine = try Engine(configuration, trial: trial) { line in log.update { $0.append(line) } }
  }

  private static func install(_ build: String, _ defines: [String] = [], in folder: TemporaryDirectory) async throws {
    let product = try await PluginCompiler.compile("differs-by-build", defines: ["BUILD=\"\(build)\""] + defines)
    try withExtendedLifetime(product) {
      try StampedLibrary.install(FileTree.read(product.path), at: folder.path("a.so"))
    }
  }

  /// Installs a build, and begins its shadow.
  @discardableResult
  func swap(_ build: String = "2", _ defines: [String] = []) async throws -> SwapReport {
    try await Self.install(build, defines, in: folder)
    return try await engine.swap()
  }

  func send(_ path: String = "/", _ headers: HeaderFields = [:]) async throws -> TransactionResult {
    await engine.transaction(Request(url: try HTTPURL(server.baseURL + path), headers: headers))
  }

  /// Sends requests until the condition holds.
  @discardableResult
  func send(
    _ path: String = "/", _ headers: HeaderFields = [:], until what: String, _ isMet: (EngineStatus) -> Bool
  ) async throws -> EngineStatus {
    try await waitForStatus(what) {
      isMet($0)
    } whilePolling: {
      let result = try await self.send(path, headers)
      #expect(result.error == nil)
    }
  }

  func waitForStatus(
    _ what: String, _ isMet: (EngineStatus) -> Bool, whilePolling poll: () async throws -> Void
  ) async throws -> EngineStatus {
    var status = await engine.status
    let isReached = try await eventually {
      try await poll()
      status = await engine.status
      return isMet(status)
    }
    guard isReached else { throw TestKitError("\(what): not within \(Patience.limit); the status is \(status)") }
    return status
  }

  func shutdown() async {
    await engine.shutdown(drain: .seconds(5))
    server.stop()
  }
}

/// New builds that replay samples of the traffic before they get live requests.
@Suite struct ShadowTests {
  private static let all = #""share": 100, "duration": "1h""#
  private static let short = #""share": 100, "duration": "10ms""#
  private static let ignoring = #", "ignore": ["header X-Build"]"#

  @Test func `a build that does something else is stopped before it gets a live request`() async throws {
    let fixture = try await ShadowFixture(Self.all)
    let report = try await fixture.swap()
    #expect(report.outcome == .canary && report.canary?.percent == 0, "\(report)")
    #expect(report.description.hasPrefix("swap 1: snapshot 2 is in its shadow (\"a\" "), "\(report)")
    #expect(await fixture.engine.status.generations.map(\.state) == [.active, .canary])
    let status = try await fixture.send(until: "the end of the shadow") { $0.history.last?.outcome == .rolledBack }
    let reason = try #require(status.history.last?.reason)
    #expect(reason.hasPrefix("different in ") && reason.contains(" samples, for instance GET http://"), "\(reason)")
    #expect(
      reason.contains("/: a, on_request: header x-build: 1 → 2; samples of its shadow: 0 same, "), "\(reason)")
    #expect(!fixture.lines("shadow:     header x-build: 1 → 2").isEmpty)
    #expect(fixture.server.requests.allSatisfy { $0.headers.first("x-build") == "1" })
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.reason?.contains("is refused because it failed in service: different in ") == true)
    await fixture.shutdown()
  }

  @Test(arguments: [#", "canary": {"steps": [50], "hold": "1h"}"#, ""])
  func `a build that does the same goes on to the steps, or is published`(_ canary: String) async throws {
    let fixture = try await ShadowFixture(Self.short + Self.ignoring, more: canary)
    try await fixture.swap()
    let status = try await fixture.send(until: "the end of the shadow") { $0.history.count == 2 }
    #expect(status.history.last?.outcome == (canary.isEmpty ? .published : .canary))
    #expect(status.history.last?.canary?.percent == (canary.isEmpty ? nil : 50))
    #expect(status.canary?.shadow == nil && status.canary?.step == (canary.isEmpty ? nil : 1))
    let reason = try #require(status.history.last?.reason)
    #expect(
      reason.hasPrefix("samples of its shadow: ") && reason.contains(" 0 different, 0 not compared, "), "\(reason)")
    let isSecond = try await fixture.waitForStatus("a request on the new build") { _ in
      fixture.server.requests.last?.headers.first("x-build") == "2"
    } whilePolling: {
      _ = try await fixture.send()
    }
    #expect(isSecond.history.count == 2)
    await fixture.shutdown()
  }

  @Test func `as many samples may be different as the configuration allows`() async throws {
    let fixture = try await ShadowFixture(Self.all + #", "differences": 1000000"#)
    try await fixture.swap()
    let status = try await fixture.send(until: "a different sample") { ($0.canary?.shadow?.different ?? 0) > 1 }
    let shadow = try #require(status.canary?.shadow)
    #expect(shadow.same == 0 && shadow.notCompared == 0)
    #expect(shadow.findings.contains("    header x-build: 1 → 2"), "\(shadow.findings)")
    await fixture.shutdown()
  }

  @Test func `a crash of the new build is found without a crash of the engine`() async throws {
    let fixture = try await ShadowFixture(Self.all + Self.ignoring)
    try await fixture.swap("2", ["TRAP=__builtin_trap()"])
    let status = try await fixture.send("/", ["x-trap": "1"], until: "the end") {
      $0.history.last?.outcome == .rolledBack
    }
    let reason = try #require(status.history.last?.reason)
    #expect(
      reason.hasPrefix("in its shadow: ") && reason.contains(" in on_request of \"a\", with request "), "\(reason)")
    #expect(try await fixture.send("/", ["x-trap": "1"]).error == nil)
    await fixture.shutdown()
  }

  /// What was not compared is neither a success nor a failure of the new build.
  @Test func `a shadow in which most samples were not compared is held, and says why`() async throws {
    let fixture = try await ShadowFixture(Self.short + Self.ignoring)
    try await fixture.swap()
    let status = try await fixture.send("/2000000", until: "samples that were not compared") {
      ($0.canary?.shadow?.notCompared ?? 0) > 2
    }
    let shadow = try #require(status.canary?.shadow)
    #expect(shadow.compared == 0 && status.history.count == 1)
    #expect(shadow.findings.contains { $0.contains("a sample has no body above 1 MiB") }, "\(shadow.findings)")
    // Now most samples can be compared.
    try await fixture.send(until: "the publication") { $0.history.last?.outcome == .published }
    await fixture.shutdown()
  }

  @Test(arguments: ["hold", "promote"])
  func `without samples, a shadow lasts on or ends, as the configuration says`(_ silence: String) async throws {
    let fixture = try await ShadowFixture(
      Self.short, more: #", "canary": {"steps": [50], "hold": "1h", "onSilence": "\#(silence)"}"#)
    try await fixture.swap()
    if silence == "promote" {
      try await fixture.waitForStatus("the first step") { $0.canary?.step == 1 }
    } else {
      // The verdict of a comparison is always awaited by then.
      let shadow = try #require(fixture.engine.swaps.state.withLock { $0.canary?.shadow })
      let verdict = await withCheckedContinuation { continuation in
        shadow.compareWaiting { continuation.resume(returning: $0) }
      }
      #expect(verdict.breach == nil && !verdict.isPassed)
      #expect(await fixture.engine.status.canary?.step == 0)
    }
    await fixture.shutdown()
  }

  @Test func `a sample changes nothing for its caller`() async throws {
    let fixture = try await ShadowFixture(Self.all + #", "differences": 1000000"#)
    try await fixture.swap()
    let result = try await fixture.send("/2000000")
    #expect(result.error == nil && result.recording == nil && result.response?.body.byteCount == 2_000_000)
    #expect(!result.originalRequest.wantsRecording && !result.originalRequest.isSample)
    var request = Request(url: try HTTPURL(fixture.server.baseURL + "/2000000"))
    (request.wantsRecording, request.wantsJournal) = (true, true)
    let recorded = await fixture.engine.transaction(request)
    #expect(recorded.recording?.hops.first?.isBodyWhole == true && recorded.journal?.count == 2)
    #expect(recorded.originalRequest.wantsRecording)
    await fixture.shutdown()
  }

  @Test func `an operator ends a shadow or goes past it`() async throws {
    let fixture = try await ShadowFixture(Self.all)
    try await fixture.swap()
    let samples = "samples of its shadow: 0 same, 0 different, 0 not compared, 0 dropped"
    #expect(try await fixture.engine.rollback().reason == "\(samples); this ended the canary of snapshot 2")
    try await fixture.engine.swap()
    #expect(try await fixture.engine.abortCanary().reason == "ended by command; \(samples)")
    try await fixture.swap("3")
    let promotion = try await fixture.engine.promoteCanary()
    #expect(promotion.outcome == .published && promotion.reason == "promoted by command; \(samples)", "\(promotion)")
    _ = try await fixture.send()
    #expect(fixture.server.requests.last?.headers.first("x-build") == "3")
    await fixture.shutdown()
  }

  @Test func `an engine that ends during a shadow reports it as not decided`() async throws {
    let fixture = try await ShadowFixture(Self.all)
    try await fixture.swap()
    _ = try await fixture.send()
    await fixture.shutdown()
    let status = await fixture.engine.status
    #expect(status.history.last?.outcome == .unfinished && status.history.last?.canary?.percent == 0)
  }

  @Test func `a shadow that cannot replay the stages is refused before it begins`() async throws {
    let fixture = try await ShadowFixture(Self.all) { configuration in
      configuration.addStage("program") { request, _ in request.headers["x-program"] = "1" }
    }
    let error = await #expect(throws: SwapError.self) { try await fixture.swap() }
    #expect(
      error?.report.reason
        == "a shadow replays what the configuration file says, but the program has added plugins or stages to it; "
        + "leave out the shadow")
    let status = await fixture.engine.status
    #expect(status.canary == nil && status.generations.count == 1, "the new build is not even mapped")
    await fixture.shutdown()
  }

  /// A tracer changes nothing, and replays leave tracers out.
  @Test func `a program that only observes can have a shadow`() async throws {
    let fixture = try await ShadowFixture(Self.all) { configuration in
      configuration.addStage("observer", StageCode(observing: { _ in }))
    }
    #expect(try await fixture.swap().outcome == .canary)
    await fixture.shutdown()
  }

  @Test(arguments: [#", "canary": {"steps": [50], "hold": "1h"}"#, ""])
  func `a shadow without a duration is left out`(_ canary: String) async throws {
    let fixture = try await ShadowFixture(#""duration": "0s""#, more: canary)
    #expect(fixture.engine.canaryWarnings.isEmpty)
    let report = try await fixture.swap()
    #expect(report.outcome == (canary.isEmpty ? .published : .canary), "\(report)")
    #expect(report.canary?.percent == (canary.isEmpty ? nil : 50))
    await fixture.shutdown()
  }

  /// The old build crashes with the same samples, so that the crash says nothing about the new one.
  @Test func `a crash of both builds counts as not compared`() async throws {
    let replay = try #require(Replay(helper: BuiltProducts.executable("sluice")))
    let folder = try TemporaryDirectory()
    var builds: [Replay.Build] = []
    for build in ["1", "2"] {
      let product = try await PluginCompiler.compile(
        "differs-by-build", defines: ["BUILD=\"\(build)\"", "TRAP=__builtin_trap()"])
      let path = folder.path("\(build).so")
      try withExtendedLifetime(product) { try StampedLibrary.install(FileTree.read(product.path), at: path) }
      let text = #"{"plugins": {"a": {"library": "\#(path)"}}, "request": ["a"], "store": "\#(folder.path("store"))"}"#
      builds.append(Replay.Build(configuration: Array(text.utf8)))
    }
    let shadow = ShadowRun(ShadowSettings(), replay, old: builds[0], new: builds[1])
    #expect(shadow.begin())
    shadow.end(RecordedExchange(Request(url: "http://localhost/", headers: ["x-trap": "1"])))
    let verdict = await withCheckedContinuation { continuation in
      shadow.compareWaiting { continuation.resume(returning: $0) }
    }
    #expect(verdict.breach == nil && !verdict.isPassed && shadow.status.notCompared == 1, "\(shadow.status)")
  }

  @Test func `the reason shows no body`() async throws {
    let fixture = try await ShadowFixture(Self.all + Self.ignoring)
    try await fixture.swap("2", ["BODY=\"secret\""])
    let status = try await fixture.send(until: "the end of the shadow") { $0.history.last?.outcome == .rolledBack }
    let reason = try #require(status.history.last?.reason)
    #expect(!reason.contains("secret"), "\(reason)")
    #expect(!fixture.lines("shadow:     body: left alone → a body").isEmpty)
    #expect(fixture.lines("secret").isEmpty)
    await fixture.shutdown()
  }

  @Test func `samples beyond the limit are dropped and counted`() async throws {
    let replay = try #require(Replay(helper: BuiltProducts.executable("sluice")))
    let build = Replay.Build(configuration: Array("{}".utf8))
    let shadow = ShadowRun(ShadowSettings(), replay, old: build, new: build)
    var request = Request(method: "POST", url: "http://localhost/")
    request.body = .bytes(Array(repeating: 1, count: 1 << 20))
    // Not more than 16 transactions are recorded at the same time.
    #expect(
      (0..<20).map { _ in shadow.begin() } == Array(repeating: true, count: 16) + Array(repeating: false, count: 4))
    for _ in 0..<16 { shadow.end(RecordedExchange(request)) }
    #expect(shadow.status.waiting == 15 && shadow.status.dropped == 5)
    #expect(shadow.begin())
    shadow.end(nil)
    #expect(shadow.status.waiting == 15 && shadow.status.dropped == 6)
    #expect(shadow.end() && !shadow.end())
    #expect(shadow.status.waiting == 0 && shadow.status.dropped == 21)
    #expect(!shadow.begin() && shadow.status.dropped == 22)
  }

  /// The helper cannot be started, so nothing is known about the new build.
  @Test func `samples that cannot be replayed count as not compared`() async throws {
    let replay = try #require(Replay(helper: "/nonexistent/sluice"))
    let build = Replay.Build(configuration: Array("{}".utf8))
    let shadow = ShadowRun(ShadowSettings(), replay, old: build, new: build)
    #expect(shadow.begin())
    shadow.end(RecordedExchange(Request(url: "http://localhost/")))
    let verdict = await withCheckedContinuation { continuation in
      shadow.compareWaiting { continuation.resume(returning: $0) }
    }
    #expect(verdict.breach == nil && !verdict.isPassed && shadow.status.notCompared == 1)
    #expect(shadow.status.findings.contains { $0.contains("/nonexistent/sluice") }, "\(shadow.status.findings)")
  }
}
