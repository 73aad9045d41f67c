import CSluice
import SluiceTestKit
import Testing

@testable import SluicePlugin

/// `PluginHost.sleep` over a stub of the C table. `SluiceTests` tests it with real timers.
struct SleepTests {
  private let stub = StubHost()
  private var host: PluginHost { PluginHost(stub.table) }

  /// Starts a task that sleeps for an hour. The task returns the error with which the sleep ends, or nil.
  private func startSleep(_ host: PluginHost) -> Task<(any Error)?, Never> {
    Task {
      do {
        try await host.sleep(for: .seconds(3600))
        return nil
      } catch { return error }
    }
  }

  @Test func `a sleep ends when its timer fires`() async throws {
    let timers = StubTimers(stub)
    let task = startSleep(host)
    let start = try #require(try await timers.started.wait { !$0.isEmpty }.first)
    #expect(start.delay == 3_600_000_000_000)
    start.fire()
    #expect(await task.value == nil)
    #expect(timers.cancelled.value.isEmpty)
  }

  @Test func `a cancelled task cancels its timer and ends at once`() async throws {
    let timers = StubTimers(stub)
    let task = startSleep(host)
    try await timers.started.wait { !$0.isEmpty }
    task.cancel()
    #expect(await task.value is CancellationError)
    #expect(timers.cancelled.value == [1])
  }

  @Test func `a timer that fires while it is cancelled resumes the task once`() async throws {
    let timers = StubTimers(stub, cancelStatus: Int(SLUICE_STATUS_STALE))
    let task = startSleep(host)
    let start = try #require(try await timers.started.wait { !$0.isEmpty }.first)
    task.cancel()
    #expect(timers.cancelled.value == [1])
    start.fire()
    #expect(await task.value == nil)
  }

  @Test func `a task that is already cancelled starts no timer`() async throws {
    let timers = StubTimers(stub)
    let gate = Signal()
    let task = Task { [host] in
      try? await gate.wait()
      return await sleepAtOnce(host, cancelled: Task.isCancelled)
    }
    task.cancel()
    gate.set()
    #expect(await task.value is CancellationError)
    #expect(timers.started.value.isEmpty)
  }

  private func sleepAtOnce(_ host: PluginHost, cancelled: Bool) async -> (any Error)? {
    #expect(cancelled)
    do {
      try await host.sleep(for: .zero)
      return nil
    } catch { return error }
  }

  @Test func `the end of an instance ends the sleeps of its tasks, whether these are cancelled or not`() async throws {
    let timers = StubTimers(stub, cancelStatus: Int(SLUICE_STATUS_STALE))
    let host = host
    let (first, second) = (startSleep(host), startSleep(host))
    try await timers.started.wait { $0.count == 2 }
    first.cancel()
    host.link.sleeps.cutOff()
    #expect(await first.value is CancellationError)
    #expect((await second.value as? StageFailure)?.code == "closing")
  }

  @Test(arguments: [(SLUICE_STATUS_LIMIT, "limit"), (SLUICE_STATUS_CLOSING, "closing"), (99, "refused")])
  func `if the host refuses a timer, sleep throws an error with its own code`(status: Int, code: String) async throws {
    let timers = StubTimers(stub, status: status)
    let failure = await #expect(throws: StageFailure.self) { try await host.sleep(for: .seconds(1)) }
    #expect(failure?.code.rawValue == code)
    #expect(timers.started.value.isEmpty)
  }

  @Test func `on a host without timers, or after the end of the instance, sleep throws`() async throws {
    let host = host
    let missing = await #expect(throws: StageFailure.self) { try await host.sleep(for: .seconds(1)) }
    #expect(missing?.code == "unsupported")
    host.link.close()
    let ended = await #expect(throws: StageFailure.self) { try await host.sleep(for: .seconds(1)) }
    #expect(ended?.code == "closing")
  }
}
