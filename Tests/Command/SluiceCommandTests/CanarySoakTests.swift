import SluiceJSON
import SluiceTestKit
import SluiceTestServers
import Testing

/// Many canaries of libraries in a running command. One half is promoted, the other is ended. The test begins 10 canaries,
/// or 500 with `SLUICE_SOAK=1`.
@Suite struct CanarySoakTests {
  @Test func `canaries of libraries lose no request, mix no builds, leave no descriptor, and break no rule`()
    async throws
  {
    let count = Tool.isSoak ? 500 : 10
    let folder = try TemporaryDirectory()
    let events = folder.path("events.jsonl")
    let run = try await ControlledRun(
      swap: """
        {"probation": {"duration": "0s"}, "generations": 1000, "generationBytes": 1099511627776,
         "canary": {"steps": [50], "hold": "1h"}}
        """, options: ["--events", events, "--rate", Tool.isSoak ? "100" : "500"])
    let flow = run.flow()
    try await run.waitForMore(10)
    var descriptors = 0
    for number in 2...count + 1 {
      try run.library.install(number, at: run.folder.path("a.so"))
      let swap = try await run.ctl("swap")
      try #require(swap.status == 0 && swap.outputText.contains(" serves 50 % "), "\(swap)")
      try await run.waitForMore(10)
      let end = try await run.ctl(number.isMultiple(of: 2) ? "promote" : "abort")
      try #require(end.status == 0, "\(end)")
      if number == 5 { descriptors = run.descriptorCount }
    }
    let left = run.descriptorCount - descriptors
    #expect(left < 20, "\(left) descriptors")
    let status = try await run.status()
    let states = status["generations"].map { $0.elements.map { $0["state"]?.string ?? "" } } ?? []
    #expect(states.count { $0 == "active" } == 1 && !states.contains("canary"), "\(states)")
    run.stopFlow()
    let written = try await flow.value
    let result = try await run.end()
    let stamps = try result.documents.map(\.stamp)
    #expect(result.status == 0 && stamps.count == written && run.server.requestCount == written, "\(result.errorText)")
    #expect(!stamps.contains(nil))
    // Each build served, besides those few of which no request was drawn.
    #expect(Set(stamps).count > count / 2)
    let verified = try await Tool.run("verify-trace", events)
    #expect(verified.status == 0 && verified.outputText.contains("no rule broken"), "\(verified)")
  }
}

extension ControlledRun {
  fileprivate var descriptorCount: Int {
    FileTree.names(in: "/proc/\(running.processID)/fd").count
  }
}
