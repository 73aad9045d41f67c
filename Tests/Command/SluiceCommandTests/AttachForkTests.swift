import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Programs under `sluice attach` can fork at any moment.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachForkTests {
  private static let childCount = Tool.isSoak ? 5_000 : 40

  /// If the pipeline could not be restored in a child, the child's transfers bypass the pipeline, and each of them is
  /// counted.
  private func expectCounted(_ runs: AttachedComparison) {
    let passed = runs.passed.compactMap { Int($0.prefix { $0 != " " }) }.reduce(0, +)
    #expect(runs.attachedRequests.count - runs.tracedCount == passed)
    #expect(runs.passed.allSatisfy { $0.contains("forked while the pipeline was in use") }, "\(runs.passed)")
  }

  @Test(arguments: [false, true])
  func `children that are forked under load make their transfers`(_ runsPrograms: Bool) async throws {
    let program = try await ForeignProgram.compile("forks")
    let runs = try await AttachedComparison.run { url in
      [program.path, url, "\(Self.childCount)", "3"] + (runsPrograms ? ["curl", "-sfo", "/dev/null", url] : [])
    }
    #expect(runs.attached.ending == .exited(0), "\(runs.attached.errorText)")
    #expect(runs.attached.outputText == "\(Self.childCount) children, 0 bad; 0 failures in the parent\n")
    expectCounted(runs)
  }

  @Test func `children make their transfers, even if they are forked while spans are exported`() async throws {
    let collector = try LoopbackServer(recording: .countOnly, handler: AttachedCollector.accept)
    defer { collector.stop() }
    let program = try await ForeignProgram.compile("forks")
    let runs = try await AttachedComparison.run(
      { [program.path, $0, "\(Self.childCount)", "3"] },
      configuration: """
        {"plugins": {"o": {"library": "\(BuiltProducts.library("otlp"))",
           "config": {"endpoint": "\(collector.baseURL)", "delay": "1ms", "batchSpans": 4}}}, "tracers": ["o"]}
        """)
    #expect(runs.attached.ending == .exited(0), "\(runs.attached.errorText)")
    #expect(runs.attached.outputText == "\(Self.childCount) children, 0 bad; 0 failures in the parent\n")
    #expect(collector.requestCount > 0)
  }

  /// In a child of fork, no thread can release a lock that another thread held at that moment.
  @Test(arguments: ["sluice-timers", "access-log"])
  func `a program forks while no thread of Sluice holds a lock of Swift's runtime`(_ thread: String) async throws {
    let program = try await ForeignProgram.compile("locks", ["-lcurl", "-rdynamic"])
    let folder = try TemporaryDirectory()
    let collector = try LoopbackServer(recording: .countOnly, handler: AttachedCollector.accept)
    defer { collector.stop() }
    let fixture = try AttachFixture(
      more: """
        , "o": {"library": "\(BuiltProducts.library("otlp"))", "config": {"endpoint": "\(collector.baseURL)"}},
        "a": {"library": "\(BuiltProducts.library("access-log"))", "config": {"output": "\(folder.path("log"))"}}
        """, stages: #""issue": ["trace"], "tracers": ["o", "a"]"#)
    // If a thread is busy for the whole time limit of a fork, the child has no pipeline. Then the program is run again.
    var hasPipeline = false
    for run in 0..<5 where !hasPipeline {
      let result = try await fixture.attach([program.path, fixture.url, thread])
      #expect(result.ending == .exited(0), "\(result.outputText)")
      #expect(result.outputText.hasSuffix("the child ended with 0\n"), "\(result.outputText)")
      hasPipeline = !result.errorText.contains("1 transfer went without the pipeline")
      let requests = fixture.server.requests.dropFirst(2 * run)
      #expect(requests.map { $0.headers.first("traceparent") != nil } == [true, hasPipeline])
      if hasPipeline { #expect(result.outputText.contains("the lock is free"), "\(result.outputText)") }
    }
    #expect(hasPipeline)
    withExtendedLifetime((program, folder)) {}
  }

  @Test func `a stage can fork`() async throws {
    let plugin = try await PluginCompiler.compile("forks-in-stages")
    let program = try await ForeignProgram.compile("reused")
    let runs = try await AttachedComparison.run(
      { [program.path, $0] },
      configuration: """
        {"plugins": {"f": {"library": "\(plugin.path)"}}, "request": ["f"], "issue": ["f"]}
        """)
    #expect(runs.attached.ending == .exited(0), "\(runs.attached.errorText)")
    #expect(runs.attachedRequests.count == runs.plainRequests.count)
    #expect(runs.attachedRequests.allSatisfy { $0.headers.first("x-child") == "forked" })
    #expect(runs.passed.isEmpty)
  }
}
