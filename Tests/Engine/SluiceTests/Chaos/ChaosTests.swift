import Glibc
import Sluice
import SluiceLedger
import SluicePipeline
import SluiceSupport
import SluiceTestKit
import Testing

/// All kinds of failures, at the same time and at random. The server delays, cuts off, redirects and refuses. Stages
/// suspend, retry, fail, respond and miss deadlines. The stages are closures, and libraries in C and Swift. The
/// libraries resume from their own threads, twice, and after the end of the transaction. Callers cancel.
@Suite struct ChaosTests {
  /// Runs 5,000 transactions, or 200,000 with `SLUICE_SOAK=1`. A failure prints its seed, and `SLUICE_SEED` repeats the
  /// run with it.
  @Test func `in chaos every transaction completes once, the ledger is complete, and nothing leaks`() async {
    await #expect(processExitsWith: .success) {
      ProcessMemory.keepNoBacktraces()
      let isFull = getenv("SLUICE_SOAK") != nil
      var seeds = SystemRandomNumberGenerator()
      let seed = getenv("SLUICE_SEED").flatMap { UInt64(String(cString: $0)) } ?? seeds.next()
      let chaos = try await Chaos(seed: seed)
      // This first run makes the allocations that are made only once, before memory is measured.
      try await chaos.run(500, inFlight: 100)
      try await openTimerOfTasks()
      let descriptors = ProcessFacts().openDescriptorCount
      let memory = ProcessMemory.allocatedBytes
      try await chaos.run(isFull ? 200_000 : 5_000, inFlight: 200)
      let grown = ProcessMemory.allocatedBytes - memory
      #expect(Sanitizer.isOn || grown < 2 << 20, "grew by \(grown >> 10) KiB; SLUICE_SEED=\(seed)")
      let left = ProcessFacts().openDescriptorCount - descriptors
      #expect(left <= 4, "\(left) descriptors are left: \(ProcessFacts().openFiles); SLUICE_SEED=\(seed)")
    }
  }
}

/// The server, the stages and the callers, whose random decisions all follow from one seed.
private final class Chaos: Sendable {
  private let seed: UInt64
  private let plain: PluginCompiler.Product
  private let serial: PluginCompiler.Product

  init(seed: UInt64) async throws {
    self.seed = seed
    plain = try await PluginCompiler.compile("chaos")
    serial = try await PluginCompiler.compile("chaos", name: "serial", defines: ["FLAGS=SLUICE_FLAG_SERIAL"])
    // The engine refuses a plugin that others can write, so the mode must not depend on the umask.
    for product in [plain, serial] { chmod(product.path, 0o755) }
  }

  /// Runs `count` transactions on one engine against one server.
  func run(_ count: Int, inFlight: Int) async throws {
    let server = try ChaosServer(seed: seed)
    defer { server.stop() }
    let ledger = Locked(LedgerChecker())
    let violations = Locked<[String]>([])
    let told = Locked<[String: [String: Int]]>([:])
    var configuration = try configuration()
    configuration.addStage("first", ChaosStage.code(seed: seed, name: "first"))
    configuration.addStage("second", ChaosStage.code(seed: seed, name: "second"))
    configuration.addStage(
      "ledger",
      StageCode(observing: { event in
        do throws(LedgerViolation) {
          try ledger.withLock { ledger throws(LedgerViolation) in try ledger.check(LedgerEntry(event)) }
        } catch { violations.withLock { $0.append("\(error) (\(LedgerEntry(event)))") } }
      }))
    let engine = try Engine(configuration) { line in
      let parts = line.message.split(separator: "=")
      guard let stage = line.stage, parts.count == 2, let number = Int(parts[1]) else { return }
      told.withLock { $0[stage, default: [:]][String(parts[0])] = number }
    }
    let ends = try await submit(count, inFlight, to: server, engine)
    await engine.shutdown()
    #expect(engine.unfinished == [0, 0], "SLUICE_SEED=\(seed)")
    #expect(ends.allSatisfy { $0 == 1 }, "SLUICE_SEED=\(seed)")
    let violation = violations.withLock { $0.first }
    #expect(violation == nil, "\(violation ?? ""); SLUICE_SEED=\(seed)")
    #expect(throws: Never.self) { try ledger.withLock { try $0.finish() } }
    #expect(ledger.withLock { $0.transactions } == count)
    check(told.withLock { $0 })
  }

  /// Returns how often each transaction ended.
  private func submit(
    _ count: Int, _ inFlight: Int, to server: ChaosServer, _ engine: Engine
  ) async throws -> [UInt8] {
    let ends = Locked([UInt8](repeating: 0, count: count))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        if number >= inFlight { try await group.next() }
        let request = try server.request(number, seed)
        var dice = ChaosDice(seed, "/\(number)", "caller")
        let (patience, delay) = (dice.draw(0...9), dice.draw(0...20_000))
        group.addTask {
          let cancellation = Cancellation()
          await withCheckedContinuation { continuation in
            engine.submit(request, cancellation: cancellation) { _ in
              ends.withLock { $0[number] &+= 1 }
              continuation.resume()
            }
            // Some callers cancel at once, others a little later from another task.
            if patience == 0 { cancellation.cancel() }
            if patience == 1 {
              Task {
                try? await Task.sleep(for: .microseconds(delay))
                cancellation.cancel()
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    return ends.withLock { $0 }
  }

  private func configuration() throws -> Configuration {
    let config = #""config": {"seed": \#(Int64(bitPattern: seed))}"#
    let stages = #""plain", "serial", "swift""#
    let text = """
      {"plugins": {
         "plain": {"library": "\(plain.path)", "deadline": "20ms", \(config)},
         "serial": {"library": "\(serial.path)", "deadline": "20ms", "onFault": "skip", \(config)},
         "swift": {"library": "\(BuiltProducts.library("chaos-in-swift"))", "deadline": "5ms", \(config)}},
       "request": [\(stages)], "issue": ["plain", "serial"], "response": [\(stages)],
       "deadline": "2s", "transport": {"loops": 2, "timeout": "400ms"}}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.retry = .standard
    configuration.maximumAttempts = 4
    configuration.retry.backoff = Backoff(base: .milliseconds(1), maximum: .milliseconds(4))
    return configuration
  }

  /// Checks the counts that the plugins logged: each token has ended once, and all data of the plugins was released.
  private func check(_ told: [String: [String: Int]]) {
    for stage in ["plain", "serial"] {
      func number(_ name: String) -> Int { told[stage]?[name] ?? -1 }
      let all = "\(told[stage] ?? [:]); SLUICE_SEED=\(seed)"
      #expect(number("suspended") > 0 && number("already") > 0 && number("stale") > 0, "\(stage): \(all)")
      #expect(number("suspended") == number("won") + number("cancelled"), "\(stage): \(all)")
      #expect(number("won-after-cancel") == 0 && number("other") == 0, "\(stage): \(all)")
      #expect(number("data") == 0 && number("errands") == 0, "\(stage): \(all)")
    }
    let swift = told["swift"] ?? [:]
    #expect((swift["awaited"] ?? 0) > 0 && swift["awaited"] == swift["resumed"], "\(swift); SLUICE_SEED=\(seed)")
  }
}
