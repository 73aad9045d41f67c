import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import Testing

/// Notifications and scheduled work of a plugin in Swift, in a real engine.
@Suite struct SwiftWorkTests {
  private let engine: Engine
  private let log = Watched<[LogLine]>([])

  init() throws {
    let log = self.log
    let text = """
      {"plugins": {"work": {"library": "\(BuiltProducts.library("swift-work"))", "config": {"schedules": [
         {"name": "take", "periodMs": 2, "deadlineMs": 60000}, {"name": "later", "periodMs": 3, "deadlineMs": 60000},
         {"name": "throw", "periodMs": 5, "deadlineMs": 60000}, {"name": "hang", "periodMs": 4, "deadlineMs": 1000}]}}},
       "transport": {"loops": 1}}
      """
    engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line) } }
  }

  private func wait(for count: Int, of text: String) async throws {
    try await log.wait(for: "\(count) lines with \(text)") { lines in
      lines.filter { $0.message.contains(text) }.count >= count
    }
  }

  @Test func `scheduled work in Swift is awaited, and an error that it throws is logged as failed`() async throws {
    for (name, outcome) in [
      ("take", "new-data"), ("later", "new-data"), ("throw", "failed"), ("hang", "missed-deadline"),
    ] {
      try await wait(for: 3, of: "ended the scheduled work \"\(name)\" with \(outcome) after")
    }
    try await wait(for: 1, of: "scheduled work \"throw\": the moon is down")
    // Wait for a call that hangs, because on a busy machine some calls miss their deadline before they begin.
    try await wait(for: 1, of: "hangs")
    await engine.shutdown(deactivation: .seconds(240))
    // The end of the instance has cancelled the calls that hung. Its `deactivate` waits for them, and logs their
    // number.
    let end = try #require(log.value.first { $0.message.hasSuffix(" were cancelled") })
    let count = try #require(end.message.split(separator: " ").first.flatMap { Int($0) })
    #expect(count >= 1)
  }

  @Test(arguments: [
    ("swift-take", WorkOutcome.newData), ("swift-nothing", .noData), ("swift-later", .newData),
    ("swift-throw", .failed),
    ("swift-other", .failed),
  ])
  func `a Swift plugin takes notifications with the topics that it handles, and completes each once`(
    topic: String, outcome: WorkOutcome
  ) async throws {
    let result = await engine.notify(topic: topic, payload: ["number": 7], deadline: .seconds(300))
    #expect(result.outcome == .ended(outcome))
    if case .plugin("work", "swift-work", _) = result.taker {
    } else {
      Issue.record("\(String(describing: result.taker))")
    }
    #expect(log.value.contains { $0.message == "handles \(topic) 7" })
    await engine.shutdown()
  }

  @Test func `a Swift plugin does not take notifications with other topics`() async throws {
    engine.setNotificationHandler { topic, _ in topic == "other" ? .noData : nil }
    let result = await engine.notify(topic: "other")
    #expect(result.taker == .program && result.outcome == .ended(.noData))
    await engine.shutdown()
  }
}
