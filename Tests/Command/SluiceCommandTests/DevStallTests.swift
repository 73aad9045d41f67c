import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

@testable import SluiceCommand

/// `sluice dev`: an engine whose loops are stuck.
@Suite struct DevStallTests {
  /// Compiles a plugin that sets `x-stamp-a` to `build`. If `loops`, it does not return from a request to the path
  /// `/loop`.
  private static func compile(_ build: Int, loops: Bool, _ defines: String...) async throws -> [UInt8] {
    let product = try await PluginCompiler.compile(
      "loops-on-request", defines: ["BUILD=\(build)", "LOOPS=\(loops ? 1 : 0)"] + defines)
    return try withExtendedLifetime(product) { try FileTree.read(product.path) }
  }

  private static func configuration(_ url: String, kill: String) -> String {
    """
    {"plugins": {"a": {"library": "a.so"}}, "request": ["a"], "store": "store", "watchdog": {"kill": "\(kill)"},
     "transport": {"baseURL": "\(url)"}}
    """
  }

  @Test func `the session ends a build that loops forever, names and refuses it, and swaps in the repaired one`()
    async throws
  {
    let good = try await Self.compile(1, loops: false)
    let (bad, mended) = (try await Self.compile(2, loops: true), try await Self.compile(3, loops: false))
    let run = try await DevRun("--listen", "0", configuration: { Self.configuration($0, kill: "2s") }) {
      try StampedLibrary.install(good, at: $0.path("a.so"))
    }
    let address = try await run.start()
    try StampedLibrary.install(bad, at: run.library)
    let hash = try #require(try await run.next("swapped")["report"]?["changes"]?[0]?["new"]?["hash"]?.string)
    let answer = try await Command.check("curl", ["-sS", "-w", "%{http_code}", "http://\(address)/loop"]).outputText
    #expect(answer.hasSuffix("502") && answer.contains("on_request"), "\(answer)")
    let crashed = try await run.next("crashed")
    #expect(crashed.plugins == ["a"] && crashed["signal"]?.string == "SIGKILL", "\(crashed)")
    let stalled = try #require(crashed["stalled"], "\(crashed)")
    #expect(stalled["plugin"]?.string == "a" && stalled["callback"]?.string == "on_request", "\(stalled)")
    #expect(stalled["generation"]?.integer == 2 && stalled["transaction"]?.string?.count == 36, "\(stalled)")
    #expect(stalled["loop"]?.integer == 0 && stalled["ageMs"]?.number ?? 0 >= 2000, "\(stalled)")
    let refused = try await run.next("refused")
    #expect(refused["hash"]?.string == hash && refused["subject"]?.string == "build", "\(refused)")
    try await run.next("restarted")
    #expect(try await run.stamp(at: address) == "1", "the previous build serves")
    try StampedLibrary.install(mended, at: run.library)
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "3")
    try await run.end()
  }

  @Test func `a build that blocks the loop while it is swapped in is refused, and the previous build serves`()
    async throws
  {
    let good = try await Self.compile(1, loops: false)
    let (bad, mended) = (try await Self.compile(2, loops: false, "POSTS=1"), try await Self.compile(3, loops: false))
    let run = try await DevRun("--listen", "0", configuration: { Self.configuration($0, kill: "2s") }) {
      try StampedLibrary.install(good, at: $0.path("a.so"))
    }
    let address = try await run.start()
    try StampedLibrary.install(bad, at: run.library)
    let crashed = try await run.next("crashed")
    #expect(crashed.plugins == ["a"] && crashed["stalled"]?["generation"]?.integer == 2, "\(crashed)")
    let refused = try await run.next("refused")
    #expect(refused.plugins == ["a"] && refused["subject"]?.string == "build", "\(refused)")
    try await run.next("restarted")
    #expect(try await run.stamp(at: address) == "1", "the previous build serves")
    try StampedLibrary.install(mended, at: run.library)
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "3")
    #expect(run.count("crashed") == 1 && run.count("waiting") == 0)
    try await run.end()
  }

  @Test func `while a new build does not return from activate, the session says so`() async throws {
    let (run, library) = try await DevRun.stamped()
    try await run.start()
    let gate = run.folder.path("gate")
    try #require(mkfifo(gate, 0o600) == 0)
    let product = try await PluginCompiler.compile("activates-behind-a-gate", defines: ["GATE=\"\(gate)\""])
    try withExtendedLifetime(product) { try StampedLibrary.install(FileTree.read(product.path), at: run.library) }
    let notice = try await run.next("log") { $0["message"]?.string?.contains("activate") == true }
    #expect(notice.plugins == ["a"] && notice["level"]?.string == "warning", "\(notice)")
    let opened = FileDescriptor(adopting: open(gate, O_RDWR | O_CLOEXEC))
    try await run.next("swapped")
    opened.close()
    try library.install(2, at: run.library)
    try await run.next("swapped")
    try await run.end()
  }

  @Test func `while a new build does not return from create in its trial, the session says so`() async throws {
    let (run, _) = try await DevRun.stamped()
    try await run.start()
    let product = try await PluginCompiler.compile("create-misbehaves", defines: ["DOES=hang()"])
    try withExtendedLifetime(product) { try StampedLibrary.install(FileTree.read(product.path), at: run.library) }
    let notice = try await run.next("log") { $0["message"]?.string?.contains("the trial of \"a\"") == true }
    #expect(notice.plugins == ["a"], "\(notice)")
    let refused = try await run.next("refused")
    #expect(refused["reason"]?.string?.contains("in create of \"a\"") == true, "\(refused)")
    try await run.end()
  }

  @Test func `a build that was saved while the loop was stuck is swapped in afterwards`() async throws {
    let (bad, mended) = (try await Self.compile(1, loops: true), try await Self.compile(2, loops: false))
    let run = try await DevRun("--listen", "0", configuration: { Self.configuration($0, kill: "3s") }) {
      try StampedLibrary.install(bad, at: $0.path("a.so"))
    }
    let address = try await run.start()
    try run.running.write("/loop\n")
    try StampedLibrary.install(mended, at: run.library)
    try await run.next("changed")
    let crashed = try await run.next("crashed")
    #expect(crashed["stalled"]?["generation"]?.integer == 1, "\(crashed)")
    try await run.next("swapped")
    #expect(try await run.stamp(at: address) == "2")
    try await run.end()
  }

  @Test func `a stage that ends the thread of its loop ends the engine too`() async throws {
    let good = try await Self.compile(1, loops: false)
    let bad = try await Self.compile(2, loops: true, "ENDS_THREAD=1")
    let run = try await DevRun("--listen", "0", configuration: { Self.configuration($0, kill: "2s") }) {
      try StampedLibrary.install(good, at: $0.path("a.so"))
    }
    let address = try await run.start()
    try StampedLibrary.install(bad, at: run.library)
    try await run.next("swapped")
    try run.running.write("/loop\n")
    let crashed = try await run.next("crashed")
    #expect(crashed["stalled"]?["loop"]?.integer == 0 && crashed.plugins == ["a"], "\(crashed)")
    try await run.next("restarted")
    #expect(try await run.stamp(at: address) == "1")
    try await run.end()
  }

  @Test func `a process that does not answer at all is ended and started again`() async throws {
    let good = try await Self.compile(1, loops: false)
    let run = try await DevRun("--listen", "0", configuration: { Self.configuration($0, kill: "2s") }) {
      try StampedLibrary.install(good, at: $0.path("a.so"))
    }
    let started = try await run.next("started")
    #expect(kill(pid_t(try #require(started["process"]?.integer)), SIGSTOP) == 0)
    let crashed = try await run.next("crashed")
    #expect(crashed["stalled"] != nil && crashed["stalled"]?["loop"] == nil, "\(crashed)")
    try await run.next("restarted")
    #expect(try await run.stamp(at: try #require(started["listen"]?.string)) == "1")
    try await run.end()
  }

  @Test func `Ctrl-C ends a session within its time limit, even with a stuck loop`() async throws {
    let bad = try await Self.compile(1, loops: true)
    let run = try await DevRun(configuration: { Self.configuration($0, kill: "0s") }) {
      try StampedLibrary.install(bad, at: $0.path("a.so"))
    }
    try await run.start()
    try run.running.write("/loop\n")
    try await run.next("log") { $0["message"]?.string?.contains("has blocked loop 0") == true }
    let began = ContinuousClock.now
    #expect(try await run.end().status == 130)
    // The time limit is three seconds. The test allows three times as much for a busy machine. If the stop waited for
    // the loop, it would take ten seconds.
    #expect(ContinuousClock.now - began < .seconds(9))
  }

  @Test func `a second Ctrl-C ends the session at once`() async throws {
    let bad = try await Self.compile(1, loops: true)
    let run = try await DevRun(configuration: { Self.configuration($0, kill: "0s") }) {
      try StampedLibrary.install(bad, at: $0.path("a.so"))
    }
    let process = try #require(try await run.next("started")["process"]?.integer)
    try run.running.write("/loop\n")
    try await run.next("log") { $0["message"]?.string?.contains("has blocked loop 0") == true }
    run.running.send(signal: SIGINT)
    run.running.send(signal: SIGTERM)
    let status = try await run.running.wait(upTo: Patience.limit).status
    #expect([130, 143].contains(status))
    #expect(try await eventually { kill(pid_t(process), 0) != 0 }, "the engine ends with it")
  }
}
