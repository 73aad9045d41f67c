import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Scheduled work and timers of plugins, in a real engine.
@Suite struct SchedulingTests {
  /// An engine, and the lines that it logs.
  private struct Setup {
    let engine: Engine
    let log = Watched<[LogLine]>([])

    init(_ text: String) throws {
      let log = self.log
      engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line) } }
    }

    func wait(for count: Int, of text: String) async throws {
      try await log.wait(for: "\(count) lines with \(text)") { lines in
        lines.filter { $0.message.contains(text) }.count >= count
      }
    }
  }

  private static func fixture(_ behaviour: String) async throws -> PluginCompiler.Product {
    let product = try await PluginCompiler.compile(behaviour)
    chmod(product.path, 0o755)
    return product
  }

  @Test func `the engine calls scheduled work of a plugin in C in every period, and logs how each call ended`()
    async throws
  {
    let product = try await Self.fixture("handles-work")
    let setup = try Setup(
      """
      {"plugins": {"worker": {"library": "\(product.path)", "config": {"schedules": [
         {"name": "take", "periodMs": 2, "deadlineMs": 60000}, {"name": "elsewhere", "periodMs": 3, "deadlineMs": 60000},
         {"name": "fail", "periodMs": 5, "deadlineMs": 60000}, {"name": "never", "periodMs": 4, "deadlineMs": 1}]}}},
       "transport": {"loops": 2}}
      """)
    for (name, outcome) in [
      ("take", "new-data"), ("elsewhere", "new-data"), ("fail", "failed"), ("never", "missed-deadline"),
    ] {
      try await setup.wait(for: 3, of: "ended the scheduled work \"\(name)\" with \(outcome) after")
    }
    let reports = setup.engine.schedules
    #expect(reports.map(\.name) == ["elsewhere", "fail", "never", "take"])
    #expect(reports.allSatisfy { $0.stage == "worker" && $0.plugin == "handles-work" && $0.generation >= 1 })
    for report in reports {
      let outcome: WorkOutcome =
        switch report.name {
        case "fail": .failed
        case "never": .missedDeadline
        default: .newData
        }
      #expect(report[outcome] >= 3, "\(report)")
    }
    await setup.engine.shutdown()
    let lines = setup.log.value.map(\.message)
    let overlaps = try #require(lines.firstIndex(of: "overlaps=0"))
    #expect(!lines.contains("late-call=1"))
    #expect(!lines[overlaps...].contains { $0.hasPrefix("scheduled-") })
  }

  @Test func `a timer fires on the loop where it was started, so that it can enter that loop's exchanges`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await Self.fixture("resumes-by-timer")
    let setup = try Setup(
      """
      {"plugins": {"stage": {"library": "\(product.path)", "deadline": "300s"}}, "request": ["stage"],
       "transport": {"loops": 2}}
      """)
    let engine = setup.engine
    let url = try HTTPURL(server.baseURL + "/")
    let failures = await withTaskGroup { group in
      for _ in 0..<100 { group.addTask { await engine.transaction(Request(url: url)).error } }
      return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
    }
    #expect(failures.isEmpty)
    #expect(server.requests.count == 100 && server.requests.allSatisfy { $0.value(of: "x-timer") == "yes" })
    await engine.shutdown()
  }
}
