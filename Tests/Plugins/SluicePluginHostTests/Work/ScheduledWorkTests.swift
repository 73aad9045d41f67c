import CSluice
import Glibc
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// on_schedule of a plugin in C. The tests move the clock of the loop.
struct ScheduledWorkTests {
  private func stage(
    _ name: String, period: Int64 = 1000, deadline: Int64 = 300, defines: [String] = [], isActive: Bool = true
  ) async throws -> StageFixture {
    let schedule: JSONValue = [
      "name": JSONValue(name), "periodMs": JSONValue(period), "deadlineMs": JSONValue(deadline),
    ]
    return try await StageFixture(
      "handles-work", defines: defines, configuration: ["schedules": [schedule]], isActive: isActive)
  }

  private func open(_ stage: StageFixture) throws {
    let gate = try #require("fixture.gate".withCString { stage.generation.table.extension($0) })
    sem_post(UnsafeMutableRawPointer(mutating: gate).assumingMemoryBound(to: sem_t.self))
  }

  /// Waits for a log line of the plugin, or of the host about the plugin.
  private func wait(_ stage: StageFixture, for line: String) async throws {
    try await stage.log.wait(for: line) { $0.contains { $0.message.contains(line) } }
  }

  private func report(_ stage: StageFixture) throws -> ScheduleReport { try #require(stage.instance.schedules.first) }

  /// Moves the clock by one period, and waits for a log line.
  private func period(_ stage: StageFixture, until line: String) async throws {
    stage.loop.advance(by: .seconds(1))
    try await wait(stage, for: line)
  }

  /// Waits until the running call has returned.
  private func settle(_ stage: StageFixture) async throws {
    let isFree = Signal()
    #expect(stage.instance.control.submit { isFree.set() })
    try await isFree.wait(for: "the end of the call")
  }

  @Test(arguments: [("take", WorkOutcome.newData), ("nothing", .noData), ("fail", .failed)])
  func `on_schedule is called in every period, and its outcomes are logged and counted`(
    name: String, outcome: WorkOutcome
  ) async throws {
    let stage = try await stage(name)
    #expect(stage.told("schedule") == ["0"])
    #expect(stage.told("scheduled-\(name)").isEmpty)
    for number in 0..<3 {
      stage.loop.advance(by: .seconds(1))
      try await stage.log.wait(for: "the end of call \(number)") { log in
        log.filter { $0.message.contains("ended the scheduled work") }.count == number + 1
      }
      try await settle(stage)
    }
    #expect(stage.told("scheduled-\(name)") == ["0", "1", "2"])
    let report = try report(stage)
    #expect(report.name == name && report.stage == "stage" && report.plugin == "handles-work")
    #expect(report.counts == [outcome: 3] && report.leftOut == 0 && report.lastOutcome == outcome)
    let line = try #require(stage.log.value.first { $0.message.contains("ended the scheduled work") })
    #expect(line.message.contains("\"\(name)\" with \(outcome.rawValue) after"), "\(line.message)")
    #expect(line.message.contains("generation \(stage.generation.number)"), "\(line.message)")
  }

  @Test func `work that is never completed misses its deadline, and is called again in the next period`()
    async throws
  {
    let stage = try await stage("never")
    try await period(stage, until: "scheduled-never=0")
    #expect(try report(stage).counts.isEmpty)
    try await settle(stage)
    stage.loop.advance(by: .milliseconds(300))
    #expect(try report(stage).counts == [.missedDeadline: 1])
    #expect(try report(stage).lastDuration == .milliseconds(300))
    #expect(stage.warnings.contains { $0.contains("with missed-deadline after 0.3 seconds") })
    // The clock moves exactly to the next period. If the clock moved further, the deadline could pass before the call.
    stage.loop.advance(by: .milliseconds(700))
    try await wait(stage, for: "scheduled-never=1")
    #expect(try report(stage).leftOut == 0)
  }

  @Test func `a period is left out while the previous call is still open`() async throws {
    let stage = try await stage("keep", deadline: 3500)
    try await period(stage, until: "scheduled-keep=0")
    try await settle(stage)
    stage.loop.advance(by: .seconds(2))
    #expect(try report(stage).leftOut == 2)
    #expect(stage.told("scheduled-keep") == ["0"])
    #expect(stage.warnings.contains { $0.contains("was due again; skipped") })
    stage.loop.advance(by: .seconds(2))
    try await wait(stage, for: "scheduled-keep=1")
    #expect(try report(stage).counts == [.missedDeadline: 1])
    #expect(try report(stage).leftOut == 3)
  }

  @Test func `while a call blocks for longer than its period, no loop is blocked and it is not called again`()
    async throws
  {
    let stage = try await stage("block")
    try await period(stage, until: "scheduled-block=0")
    stage.loop.advance(by: .seconds(3))
    #expect(stage.told("scheduled-block") == ["0"])
    // The call has missed its deadline and still blocks. Periods are left out until it returns.
    #expect(try report(stage).counts == [.missedDeadline: 1])
    #expect(try report(stage).leftOut == 3)
    try open(stage)
    try await wait(stage, for: "unblocked=3")
    #expect(stage.instance.violations[.staleCompletion] == 1)
    try await settle(stage)
    try await period(stage, until: "scheduled-block=1")
    try open(stage)
  }

  @Test func `a second completion returns ALREADY, a forged one returns STALE, and neither is counted as an outcome`()
    async throws
  {
    let twice = try await stage("twice")
    try await period(twice, until: "second=")
    #expect(twice.told("first") == ["0"] && twice.told("second") == ["2"])
    #expect(twice.instance.violations[.secondCompletion] == 1)
    #expect(try report(twice).counts == [.newData: 1])
    let forge = try await stage("forge")
    try await period(forge, until: "ended the scheduled work")
    #expect(forge.told("forged") == ["3", "3", "3", "3"])
    #expect(forge.instance.violations[.staleCompletion] == 4)
    #expect(try report(forge).counts == [.noData: 1])
  }

  @Test func `an outcome that does not exist is INVALID, and the completion remains valid`() async throws {
    let stage = try await stage("no-outcome")
    try await period(stage, until: "ended the scheduled work")
    #expect(stage.told("no-outcome") == ["-1", "-1"])
    #expect(try report(stage).counts == [.failed: 1])
  }

  @Test func `a completion can come from another thread`() async throws {
    let stage = try await stage("elsewhere")
    try await period(stage, until: "ended the scheduled work")
    #expect(try report(stage).counts == [.newData: 1])
  }

  @Test func `nothing is called after deactivate, and open completions become STALE`() async throws {
    let stage = try await stage("keep", deadline: 60_000)
    try await period(stage, until: "scheduled-keep=0")
    #expect(stage.instance.destroy(within: .seconds(30)))
    #expect(stage.told("deactivated") == ["3"])
    stage.loop.advance(by: .seconds(100))
    #expect(stage.told("calls") == ["1"] && stage.told("late-call").isEmpty)
    #expect(try report(stage).counts.isEmpty)
  }

  @Test func `an instance with a call that does not return is neither deactivated nor destroyed`() async throws {
    let stage = try await stage("block", deadline: 60_000)
    try await period(stage, until: "scheduled-block=0")
    #expect(!stage.instance.destroy(within: .milliseconds(1)))
    #expect(!stage.instance.destroy(within: .milliseconds(1)))
    #expect(stage.told("deactivated").isEmpty && stage.told("calls").isEmpty)
    #expect(stage.log.value.contains { $0.level == .error && $0.message.contains("has not returned from") })
    try open(stage)
    try await wait(stage, for: "unblocked=3")
  }

  @Test func `a cancelled schedule is never called again, and its end is reported`() async throws {
    let schedule: JSONValue = ["name": "take", "periodMs": 1000, "deadlineMs": 1000, "cancel": true]
    let stage = try await StageFixture("handles-work", configuration: ["schedules": [schedule]])
    #expect(stage.told("cancel") == ["0", "3"])
    stage.loop.advance(by: .seconds(10))
    #expect(stage.told("scheduled-take").isEmpty)
    #expect(try report(stage).counts.isEmpty)
  }

  @Test func `a schedule without a name, a period, a deadline or an on_schedule is INVALID`()
    async throws
  {
    #expect(try await stage("").told("schedule") == ["-1"])
    #expect(try await stage("take", period: 0).told("schedule") == ["-1"])
    #expect(try await stage("take", deadline: 0).told("schedule") == ["-1"])
    #expect(try await stage("take", defines: ["ONLY_NOTIFICATIONS"]).told("schedule") == ["-1"])
  }

  @Test func `work is not called before activate has returned`() async throws {
    let stage = try await stage("take", isActive: false)
    let isCalled = Watched(false)
    #expect(stage.instance.control.submit { isCalled.update { $0 = true } })
    #expect(!isCalled.value && stage.told("schedule").isEmpty)
    try stage.instance.activate()
    try await isCalled.wait { $0 }
  }
}
