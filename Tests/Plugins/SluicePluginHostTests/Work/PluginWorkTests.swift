import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// Functions that a plugin runs on threads of the host (`sluice.work/1`).
struct PluginWorkTests {
  private func run(_ what: String, on stage: StageFixture) throws -> TransactionResult {
    try stage.run(StageFixture.request("GET", ["do": what]))
  }

  private func settle(_ stage: StageFixture, _ name: String) throws {
    guard stage.loop.run(until: { !stage.told(name).isEmpty }) else { throw TestKitError("\(name) was not logged") }
  }

  @Test func `a function runs on another thread, and its completion is called on the loop of the waiting exchange`()
    async throws
  {
    let stage = try await StageFixture("runs-work")
    let result = try run("run", on: stage)
    #expect(result.error == nil)
    #expect(result.issuedRequest?.headers["x-work"] == "done")
    #expect(stage.told("run") == ["0"] && stage.told("other-thread") == ["1"])
    #expect(stage.told("done") == ["0"] && stage.told("runs") == ["1"])
    #expect(stage.told("entered") == ["1"] && stage.told("resume") == ["0"])
    // The function runs outside of any call, so it has no access to an exchange.
    #expect(stage.told("exchange") == ["-3"] && stage.instance.violations[.wrongThread] == 1)
  }

  @Test func `malformed, forged and early work is refused, and no function is called`() async throws {
    let stage = try await StageFixture("runs-work")
    _ = try run("refused", on: stage)
    #expect(stage.told("create") == ["-2"] && stage.instance.violations[.earlyWork] == 1)
    #expect(stage.told("no-function") == ["-1"] && stage.told("no-completion") == ["-1"])
    #expect(stage.told("no-host") == ["6"])
    #expect(stage.told("forged-parent") == ["3"] && stage.told("impossible-parent") == ["3"])
    #expect(stage.instance.destroy(within: .seconds(30)))
    #expect(stage.told("deactivate") == ["6"] && stage.told("destroy") == ["6"])
    #expect(stage.told("called").isEmpty)
  }

  @Test func `the number of an instance's waiting functions is limited, and each function completes once`()
    async throws
  {
    let stage = try await StageFixture("runs-work")
    _ = try run("fill", on: stage)
    #expect(stage.told("taken") == ["256"] && stage.told("full") == ["5"])
    #expect(stage.loop.run(until: { stage.told("counted").count == 256 }))
    #expect(stage.told("counted") == (1...256).map { "\($0)" })
    #expect(stage.warnings.contains { $0.contains("has reached a limit: 256 of its functions wait") })
    _ = try run("run", on: stage)
    #expect(stage.told("done") == ["0"])
    #expect(stage.instance.destroy(within: .seconds(30)))
  }

  @Test func `a function can be run from any thread`() async throws {
    let stage = try await StageFixture("runs-work")
    _ = try run("elsewhere", on: stage)
    try settle(stage, "elsewhere")
    #expect(stage.told("run-elsewhere") == ["0"] && stage.told("elsewhere") == ["0"])
  }

  @Test func `a function that ends its thread completes as failed, and the pool continues`() async throws {
    let stage = try await StageFixture("runs-work", blockingThreads: 1)
    #expect(try run("end-thread", on: stage).error == nil)
    #expect(stage.told("ended") == ["-4"] && stage.told("runs") == ["1"])
    #expect(stage.log.value.contains { $0.level == .error && $0.message.contains("pthread_exit") })
    #expect(try run("run", on: stage).error == nil)
    #expect(stage.told("done") == ["0"])
  }

  @Test func `if an exchange ends before the function that it waits for has begun, the function is dropped`()
    async throws
  {
    let stage = try await StageFixture("runs-work", blockingThreads: 1)
    stage.stageDeadline = .milliseconds(200)
    _ = try run("block", on: stage)
    // The only thread is busy.
    let outcome = stage.begin(try StageFixture.request("GET", ["do": "run"]))
    stage.loop.advance(by: .seconds(1))
    #expect(outcome.result?.error?.code == .stageTimeout)
    try settle(stage, "done")
    #expect(stage.told("done") == ["3"] && stage.told("runs") == ["0"])
    #expect(stage.told("entered") == ["0"] && stage.told("resume") == ["3"] && stage.told("cancelled") == ["1"])
    _ = try run("open", on: stage)
    try settle(stage, "blocked")
    #expect(stage.told("blocked") == ["0"] && stage.told("other-thread").isEmpty)
  }

  @Test func `at the end of an instance, waiting functions are dropped, and running functions return before destroy`()
    async throws
  {
    let stage = try await StageFixture("runs-work", blockingThreads: 1)
    _ = try run("block", on: stage)
    let outcome = stage.begin(try StageFixture.request("GET", ["do": "run"]))
    stage.instance.deactivate(within: .seconds(30))
    #expect(stage.loop.run(until: { stage.told("blocked") == ["0"] && outcome.result != nil }))
    #expect(stage.told("done") == ["6"] && stage.told("runs").sorted() == ["0", "1"])
    #expect(outcome.result?.error == nil)
    #expect(stage.instance.destroy(within: .seconds(30)))
    #expect(stage.told("destroy") == ["6"] && stage.told("called").isEmpty)
  }

  @Test func `an instance is not destroyed while one of its functions does not return`() async throws {
    let stage = try await StageFixture("runs-work", defines: ["KEEPS_GATE"], blockingThreads: 1)
    _ = try run("block", on: stage)
    #expect(!stage.instance.destroy(within: .milliseconds(20)))
    #expect(stage.told("destroy").isEmpty)
    #expect(stage.log.value.contains { $0.message.contains("still has work under way and was not destroyed") })
    _ = try run("open", on: stage)
    try settle(stage, "blocked")
    #expect(stage.instance.destroy(within: .seconds(30)))
    #expect(stage.told("destroy") == ["6"])
  }

  @Test func `if the loops accept nothing more, a completion is called on another thread`() async throws {
    let stage = try await StageFixture("runs-work", defines: ["KEEPS_GATE"], blockingThreads: 1)
    _ = try run("block", on: stage)
    stage.runtime.gate.close()
    _ = try run("open", on: stage)
    #expect(stage.instance.destroy(within: .seconds(30)))
    #expect(stage.told("blocked") == ["0"])
  }

  @Test func `a trial, and a host without other optional features, can run work`() async throws {
    let stage = try await StageFixture("runs-work", features: [], isTrial: true)
    _ = try run("elsewhere", on: stage)
    try settle(stage, "elsewhere")
    #expect(stage.told("elsewhere") == ["0"])
  }
}
