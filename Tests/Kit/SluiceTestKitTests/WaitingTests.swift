import SluiceTestKit
import Testing

@Suite struct WaitingTests {
  @Test func `a signal wakes every waiting task, and a task that waits later continues at once`() async throws {
    let signal = Signal()
    async let first: Void = signal.wait()
    async let second: Void = signal.wait()
    signal.set()
    try await first
    try await second
    try await signal.wait()
    #expect(signal.waitBlocking())
  }

  @Test func `a wait beyond its limit ends with an error that names the condition`() async {
    let error = await #expect(throws: TestKitError.self) {
      try await Signal().wait(upTo: .milliseconds(1), for: "godot")
    }
    #expect(error?.description.contains("godot") == true)
    #expect(!Signal().waitBlocking(upTo: .milliseconds(1)))
  }

  @Test func `a cancelled wait ends`() async {
    let signal = Signal()
    let task = Task { try await signal.wait(upTo: .seconds(600)) }
    task.cancel()
    await #expect(throws: TestKitError.self) { try await task.value }
  }

  @Test func `a manual clock wakes the tasks whose time has come`() async throws {
    let clock = ManualClock()
    let short = Task { try await clock.sleep(for: .seconds(1)) }
    let long = Task { try await clock.sleep(for: .seconds(3)) }
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(2))
    try await short.value
    #expect(clock.now.offset == .seconds(2))
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(1))
    try await long.value
  }

  @Test func `a sleep on a manual clock can be cancelled`() async throws {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    try await clock.waitForSleepers()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
  }
}
