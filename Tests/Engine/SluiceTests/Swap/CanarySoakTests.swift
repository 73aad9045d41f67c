import Glibc
@testable import Sluice
import SluiceAssembly
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Many canaries of stages that are a part of the program, under load. One half is promoted, the other is ended. The test
/// begins 200 canaries, or 10,000 with `SLUICE_SOAK=1`.
@Suite struct CanarySoakTests {
  @Test func `canaries lose no transaction, mix no stages, and leave nothing behind`() async {
    await #expect(processExitsWith: .success) {
      let load = try CanaryLoad()
      try await load.decide(50)
      let memory = ProcessMemory.allocatedBytes
      let count = getenv("SLUICE_SOAK") != nil ? 10_000 : 200
      try await load.decide(count)
      let grown = ProcessMemory.allocatedBytes - memory
      #expect(Sanitizer.isOn || grown < 2 << 20, "grew by \(grown >> 10) KiB")
      try await load.end()
    }
  }
}

/// An engine with transactions that run all the time, and a server that echoes the header of the request stage.
private final class CanaryLoad: Sendable {
  /// Exists as long as a snapshot has the stages that hold it.
  private final class Mark: Sendable {
    let number: Int
    private let living: Watched<Int>

    init(_ number: Int, _ living: Watched<Int>) {
      (self.number, self.living) = (number, living)
      living.update { $0 += 1 }
    }

    deinit { living.update { $0 -= 1 } }
  }

  private struct Counts: Sendable {
    var succeeded = 0
    var failures: [String] = []
    var isStopping = false
    var builds: Set<String> = []
  }

  private let engine: Engine
  private let server: LoopbackServer
  private let living = Watched(0)
  private let counts = Watched(Counts())
  private let ledger = Locked(LedgerChecker())
  private let violation = Locked<LedgerViolation?>(nil)
  private let tasks = Locked<Task<Void, Never>?>(nil)
  private let last = Locked(1)

  init() throws {
    server = try LoopbackServer(recording: .countOnly) { request in
      ServerResponse(headers: [HeaderLine("x-echo", request.headers.first("x-stamp") ?? "")])
    }
    engine = try Engine(Self.configuration(Mark(1, living), ledger, violation))
    let request = Request(url: try HTTPURL(server.baseURL + "/"))
    let (engine, counts) = (engine, counts)
    let task = Task {
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            while !counts.value.isStopping { Self.count(await engine.transaction(request), counts) }
          }
        }
      }
    }
    tasks.withLock { $0 = task }
  }

  private static func configuration(
    _ mark: Mark, _ ledger: Locked<LedgerChecker>, _ violation: Locked<LedgerViolation?>
  ) throws -> Configuration {
    let text = #"{"swap": {"probation": {"duration": "0s"}}, "transport": {"loops": 2}}"#
    var configuration = try Configuration(text: Array(text.utf8), file: nil)
    configuration.addStage(
      "stamp",
      StageCode(
        request: { request, _ in
          await Task.yield()
          request.headers["x-stamp"] = "\(mark.number)"
        },
        response: { response, _ in response.headers["x-stamp"] = "\(mark.number)" }))
    configuration.addStage(
      "ledger",
      StageCode(observing: { event in
        do throws(LedgerViolation) {
          try ledger.withLock { ledger throws(LedgerViolation) in try ledger.check(LedgerEntry(event)) }
        } catch { violation.withLock { $0 = $0 ?? error } }
      }))
    return configuration
  }

  private static func count(_ result: TransactionResult, _ counts: Watched<Counts>) {
    let headers = result.response?.headers
    let (sent, received) = (headers?["x-echo"], headers?["x-stamp"])
    counts.update { counts in
      if let sent, sent == received, result.error == nil {
        counts.succeeded += 1
        counts.builds.insert(sent)
      } else if counts.failures.count < 5 {
        counts.failures.append("\(result.error.map { "\($0)" } ?? "torn"): \(sent ?? "-"), \(received ?? "-")")
      }
    }
  }

  /// Begins canaries, and decides about each after further transactions have ended.
  func decide(_ count: Int) async throws {
    var settings = CanarySettings()
    settings.steps = [30, 60]
    settings.hold = .seconds(3600)
    for _ in 0..<count {
      let number = last.withLock { last in
        last += 1
        return last
      }
      let configuration = try Self.configuration(Mark(number, living), ledger, violation)
      let begun = await engine.swaps.submit(.reload, configuration: configuration, canary: .settings(settings))
      try #require(begun.0.outcome == .canary, "\(begun)")
      try await wait(2)
      if number.isMultiple(of: 3) {
        let step = await engine.swaps.decide { .step($0) }
        try #require(step.0.canary?.percent == 60, "\(step)")
        try await wait(2)
      }
      if number.isMultiple(of: 2) {
        try await engine.promoteCanary()
      } else {
        try await engine.abortCanary()
      }
      // The served stages, those of the snapshot before, and those of a snapshot whose transactions are ending.
      try await living.wait(for: "the end of older stages") { $0 <= 3 }
    }
  }

  private func wait(_ more: Int) async throws {
    let target = counts.value.succeeded + more
    try await counts.wait(for: "\(more) more successes") { $0.succeeded >= target || !$0.failures.isEmpty }
  }

  func end() async throws {
    counts.update { $0.isStopping = true }
    await tasks.withLock { $0 }?.value
    let counts = counts.value
    #expect(counts.failures.isEmpty, "\(counts.failures)")
    // Both arms of nearly all canaries have served.
    #expect(counts.builds.count > last.withLock { $0 } / 2, "\(counts.builds.count) of \(last.withLock { $0 })")
    await engine.shutdown()
    #expect(engine.unfinished == [0, 0] && server.requestCount == counts.succeeded)
    #expect(violation.withLock { $0 } == nil)
    try ledger.withLock { try $0.finish() }
    #expect(ledger.withLock { $0.transactions } == counts.succeeded)
    server.stop()
  }
}
