import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice run` and `sluice ctl` while a stage is in an endless loop, or after a stage has ended the thread of its
/// loop.
@Suite struct StuckRunTests {
  private final class Setup: Sendable {
    let folder: TemporaryDirectory
    let server: LoopbackServer
    let library: StampedLibrary
    let file: String
    let socket: String

    init(loops: Int, abandon: String) async throws {
      folder = try TemporaryDirectory()
      socket = folder.path("c.sock")
      let product = try await PluginCompiler.compile("never-returns")
      library = try withExtendedLifetime(product) { try StampedLibrary(FileTree.read(product.path)) }
      try library.install(1, at: folder.path("a.so"))
      server = try LoopbackServer(recording: .countOnly)
      file = try folder.write(
        """
        {"plugins": {"a": {"library": "a.so"}}, "request": ["a"], "response": ["a"], "store": "store",
         "transport": {"loops": \(loops)}, "watchdog": {"limit": "20ms", "abandon": "\(abandon)"},
         "swap": {"publish": "100ms", "probation": {"duration": "1h"}}}
        """, to: "c.json")
    }

    /// A response to HEAD has no body, so the transaction ends in the turn in which its stages are called.
    func line(_ id: Int, trap: String? = nil) -> String {
      let headers = trap.map { #", "method": "HEAD", "headers": {"x-trap": "\#($0)"}"# } ?? ""
      return #"{"id": \#(id), "url": "\#(server.baseURL)/"\#(headers)}"# + "\n"
    }

    func ctl(_ arguments: String...) async throws -> CommandResult {
      try await Command.run(Tool.path, ["ctl"] + arguments + ["--socket", socket], environment: Tool.cleared)
    }
  }

  @Test(arguments: [(1, "loop"), (4, "loop"), (1, "exit"), (4, "exit")])
  func `with a stuck loop, every request line has one result, and the run continues to its end`(
    _ loops: Int, _ trap: String
  ) async throws {
    let setup = try await Setup(loops: loops, abandon: "200ms")
    let lines = (0..<60).map { setup.line($0, trap: $0 == 5 ? trap : nil) }.joined()
    let result = try await Tool.run("run", "-q", "-c", setup.file, "--concurrency", "4", input: lines)
    let documents = try result.documents
    #expect(documents.compactMap { $0["id"]?.integer }.sorted() == Array(0..<60), "\(result.errorText)")
    let failed = documents.filter { $0["error"] != nil }
    #expect(failed.allSatisfy { $0.errorCode == "stalled" && $0["error"]?["stage"]?.string == "a" })
    #expect(failed.contains { $0["id"]?.integer == 5 })
    if loops > 1 { #expect(documents.contains { $0["id"]?.integer == 59 && $0.status == 200 }) }
    #expect(result.status == 1)
    setup.server.stop()
  }

  @Test func `a run says how many requests the recording and the archive lack because a loop is stuck`() async throws {
    let setup = try await Setup(loops: 1, abandon: "200ms")
    let recording = setup.folder.path("recording")
    let result = try await Tool.run(
      "run", "-q", "-c", setup.file, "--concurrency", "1", "--record", recording, "--har", setup.folder.path("har"),
      input: setup.line(0) + setup.line(1, trap: "loop"))
    #expect(try result.documents.map(\.errorCode) == [nil, "stalled"], "\(result.errorText)")
    #expect(try FileTree.readText(recording).split(separator: "\n").count == 1)
    #expect(
      result.errorText.contains("1 request has no recording, because a stage did not return"), "\(result.errorText)")
    #expect(result.errorText.contains("the archive is not complete: 1 request failed with stalled"))
    setup.server.stop()
  }

  @Test(arguments: [1, 4])
  func `with a stuck loop, swap, rollback, status and SIGTERM end within their time limits and name the stage`(
    _ loops: Int
  ) async throws {
    let setup = try await Setup(loops: loops, abandon: "1h")
    let running = try Tool.start(
      "run", "-q", "-c", setup.file, "--concurrency", "8", "--drain", "100ms", "--control", setup.socket)
    try running.write((0..<6).map { setup.line($0, trap: $0 == 3 ? "loop" : nil) }.joined())
    try await running.waitForError(containing: "has blocked loop")
    try setup.library.install(2, at: setup.folder.path("a.so"))
    let swap = try await setup.ctl("swap")
    #expect(swap.status == 0 && swap.outputText.contains("published as snapshot 2"), "\(swap)")
    #expect(swap.outputText.contains("has been in on_request of \"a\" (fixture, generation 1)"), "\(swap)")
    let status = try #require(try await setup.ctl("status", "--json").documents.first)
    let wait = try #require(status["waits"]?[0])
    #expect(wait["for"]?.string == "publication" && wait["plugin"]?.string == "a" && wait["generation"]?.integer == 1)
    #expect(wait["callback"]?.string == "on_request" && wait["ageMs"]?.number ?? 0 > 0)
    let text = try await setup.ctl("status")
    #expect(text.outputText.contains("snapshot 2 has been waiting for loop"), "\(text.outputText)")
    #expect(text.outputText.contains("in on_request of a, generation 1"), "\(text.outputText)")
    let back = try await setup.ctl("rollback")
    #expect(back.status == 0 && back.outputText.contains("published as snapshot 1"), "\(back)")
    running.send(signal: 15)
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 143, "\(result.errorText)")
    let documents = try result.documents
    #expect(documents.compactMap { $0["id"]?.integer }.sorted() == Array(0..<6), "\(result.errorText)")
    #expect(documents.first { $0["id"]?.integer == 3 }?.errorCode == "stalled")
    #expect(result.errorText.contains("the engine ended without one of its loops"), "\(result.errorText)")
    setup.server.stop()
  }

  /// The ways in which a loop gets stuck outside of a transaction.
  private static let idleTraps = ["post", "timer", "call", "after"]

  @Test(arguments: [1, 2], idleTraps)
  func `each line has one result although a loop gets stuck outside of a transaction and the input stays open`(
    _ loops: Int, _ trap: String
  ) async throws {
    let setup = try await Setup(loops: loops, abandon: "100ms")
    let running = try Tool.start("run", "-q", "-c", setup.file, "--concurrency", "1")
    try running.write((0..<300).map { setup.line($0, trap: $0 == 0 ? trap : nil) }.joined())
    try await running.waitForOutput("300 results") { bytes in bytes.count { $0 == 0x0A } == 300 }
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(try result.documents.compactMap { $0["id"]?.integer }.sorted() == Array(0..<300), "\(result.errorText)")
    #expect(try result.documents.first { $0["id"]?.integer == 0 }?.status == 200)
    setup.server.stop()
  }

  @Test(arguments: [[], ["--rate", "1000/s"], ["--rate-per-host", "1000/s"], ["--max-per-host", "2"]])
  func `a stuck loop does not keep back results, whichever way requests are started`(_ options: [String]) async throws {
    let setup = try await Setup(loops: 2, abandon: "100ms")
    let running = try Tool.start(["run", "-q", "-c", setup.file, "--concurrency", "4"] + options)
    try running.write((0..<60).map { setup.line($0, trap: $0 == 7 ? "post" : nil) }.joined())
    try await running.waitForOutput("60 results") { bytes in bytes.count { $0 == 0x0A } == 60 }
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(try result.documents.compactMap { $0["id"]?.integer }.sorted() == Array(0..<60), "\(result.errorText)")
    #expect(try result.documents.allSatisfy { $0.status == 200 || $0.errorCode == "stalled" })
    #expect(try result.documents.first { $0["id"]?.integer == 7 }?.status == 200)
    setup.server.stop()
  }

  @Test(arguments: idleTraps)
  func `SIGTERM writes the results of a loop that is stuck, and does not wait for the drain time`(
    _ trap: String
  ) async throws {
    let setup = try await Setup(loops: 1, abandon: "1h")
    let running = try Tool.start(
      "run", "-c", setup.file, "--concurrency", "1", "--drain", "1h", "--log-level", "info")
    try running.write(setup.line(0, trap: trap))
    try await running.waitForError(containing: "trapped=1")
    running.send(signal: 15)
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.status == 143, "\(result.errorText)")
    #expect(try result.documents.map(\.status) == [200])
    setup.server.stop()
  }

  @Test func `SIGINT ends send even if its loop is stuck`() async throws {
    let setup = try await Setup(loops: 1, abandon: "1h")
    let running = try Tool.start("send", "-c", setup.file, "-H", "x-trap: loop", setup.server.baseURL + "/")
    try await running.waitForError(containing: "has blocked loop")
    running.send(signal: 2)
    #expect(try await running.wait(upTo: Patience.limit).status == 130)
    setup.server.stop()
  }
}
