import Glibc
import SluiceAssembly
import SluiceClient
import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Calls of every kind that are cancelled at random moments, by their task, their handle, both, or their reader.
@Suite struct RandomCancelTests {
  /// Makes 300 calls, or 10,000 with `SLUICE_SOAK=1`. A failure names its seed, and `SLUICE_SEED` set to this seed
  /// repeats the run.
  @Test func `each call that is cancelled at a random moment ends once, and leaves nothing behind`() async {
    await #expect(processExitsWith: .success) {
      var seeds = SystemRandomNumberGenerator()
      let seed = getenv("SLUICE_SEED").flatMap { UInt64(String(cString: $0)) } ?? seeds.next()
      let calls = Locked<[Int: CancelledCall]>([:])
      // Both runs use one server, because the thread of a stopped server can keep its socket open for a moment.
      let server = try ScriptedServer { head, _ in
        let number = head.startLine.split(separator: " ").dropFirst().first.flatMap { Int($0.dropFirst()) }
        return number.flatMap { number in calls.withLock { $0[number] } }?.answer() ?? [.close]
      }
      defer { server.stop() }
      // Some descriptors are opened only once in a process, and the first run opens them.
      try await RandomCancels(seed: seed &+ 1, calls).run(200, server)
      try await openTimerOfTasks()
      let descriptors = ProcessFacts().openDescriptorCount
      try await RandomCancels(seed: seed, calls).run(getenv("SLUICE_SOAK") != nil ? 10_000 : 300, server)
      let left = ProcessFacts().openDescriptorCount - descriptors
      #expect(left <= 0, "\(left) descriptors are left: \(ProcessFacts().openFiles); SLUICE_SEED=\(seed)")
    }
  }
}

/// The client and the callers of one run.
private final class RandomCancels: Sendable {
  private let seed: UInt64
  private let folder: TemporaryDirectory
  /// The calls of the run. The server looks up its answers here.
  private let calls: Locked<[Int: CancelledCall]>
  private let ends = Locked<[Int: CancelEnd]>([:])
  private let census = Watched(CancelCensus())

  init(seed: UInt64, _ calls: Locked<[Int: CancelledCall]>) throws {
    self.seed = seed
    self.calls = calls
    folder = try TemporaryDirectory()
  }

  func run(_ count: Int, _ server: ScriptedServer) async throws {
    try await callAndCheck(count, server)
    calls.withLock { $0 = [:] }
    // This wait fails if a transaction retains an object longer than its call: the engine, the sequence of an upload,
    // or the delegate.
    try await census.wait(for: "everything to be released; SLUICE_SEED=\(seed)") { $0 == CancelCensus() }
    try await server.waitForScripts()
  }

  private func callAndCheck(_ count: Int, _ server: ScriptedServer) async throws {
    let ledger = CheckedLedger(census)
    var configuration = Configuration()
    configuration.transport.loops = 2
    configuration.addStage("ledger", ledger.code)
    let client = try Client(configuration)
    try await withCleanup {
      // If a reader drops the sequence, its transaction ends a little later than the call.
      await client.shutdown(drain: Patience.limit)
    } _: {
      try await callAll(count, client, server.baseURL)
    }
    expectBalance(count, client.engine, ledger)
    expectCoverage(count)
  }

  /// Runs 24 calls at a time. When a call ends, the next one starts.
  private func callAll(_ count: Int, _ client: Client, _ base: String) async throws {
    let next = Watched(0)
    try await withThrowingTaskGroup { group in
      for _ in 0..<24 {
        group.addTask { [self] in
          while true {
            let number = next.update { number in
              defer { number += 1 }
              return number
            }
            guard number < count else { return }
            let call = CancelledCall(CancelPlan(seed: seed, number: number), census)
            calls.withLock { $0[number] = call }
            let url = try HTTPURL("\(base)/\(number)")
            let end = try await call.run(client, url, to: folder.path("\(number)"))
            ends.withLock { $0[number] = end }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Checks that each call has one end, that each transaction has one completion, and that only complete downloads have
  /// a file.
  private func expectBalance(_ count: Int, _ engine: Engine, _ ledger: CheckedLedger) {
    let (calls, ends) = (calls.withLock { $0 }, ends.withLock { $0 })
    var (completions, files) = (0, Set<String>())
    for (number, call) in calls {
      let (plan, codes) = (call.plan, call.codes)
      completions += codes.count
      let isFault = fault(plan, ends[number], codes)
      #expect(isFault == nil, "\(isFault ?? ""): \(plan), \(codes); SLUICE_SEED=\(seed)")
      if plan.call == .download, ends[number] == .whole { files.insert("\(number)") }
    }
    #expect(calls.count == count && ends.count == count)
    #expect(Set(FolderListing.names(in: folder.path)) == files, "SLUICE_SEED=\(seed)")
    let (transactions, violation) = ledger.finish()
    #expect(violation == nil, "\(violation ?? ""); SLUICE_SEED=\(seed)")
    #expect(transactions == completions, "SLUICE_SEED=\(seed)")
    let metrics = engine.metrics()
    #expect(metrics.begun == UInt64(completions) && metrics.completed == UInt64(completions), "SLUICE_SEED=\(seed)")
    #expect(metrics.inFlight == 0 && engine.unfinished == [0, 0], "SLUICE_SEED=\(seed)")
  }

  /// Returns what is wrong with the end of a call, or nil if it is correct.
  private func fault(_ plan: CancelPlan, _ end: CancelEnd?, _ codes: [ErrorCode?]) -> String? {
    switch end {
    case .cancelled: break
    case .released where plan.means == .release: break
    case .whole where plan.answer == .whole && plan.means != .release: break
    default: return "ended with \(String(describing: end))"
    }
    guard codes.allSatisfy({ $0 == nil || $0 == .cancelled }) else { return "the engine tells another error" }
    switch plan.moment {
    case .beforeTheCall: return end == .cancelled && codes.isEmpty ? nil : "it was sent"
    case .yields: return codes.count <= 1 && (codes.count == 1 || end == .cancelled) ? nil : "completed otherwise"
    case .requestSeen, .bodyMoved, .theEnd: return codes.count == 1 ? nil : "not completed once"
    }
  }

  /// Checks that enough calls were cancelled at each time: before they were sent, while they ran, and too late to have
  /// an effect. For each kind of call, enough calls must have been cancelled while they ran.
  private func expectCoverage(_ count: Int) {
    let (calls, ends) = (calls.withLock { $0.values }, ends.withLock { $0 })
    let early = calls.count { $0.codes.isEmpty }
    let late = calls.count { ends[$0.plan.number] == .whole }
    #expect(early >= count / 10 && late >= count / 10, "\(early) and \(late); SLUICE_SEED=\(seed)")
    for kind in CancelPlan.Call.allCases {
      let running = calls.count { $0.plan.call == kind && $0.codes == [.cancelled] }
      #expect(running >= count / 40, "\(kind): \(running); SLUICE_SEED=\(seed)")
    }
  }
}

/// Checks the events of an engine while they happen. The engine retains this object through its stage.
private final class CheckedLedger: Sendable {
  private let census: Watched<CancelCensus>
  private let state = Locked((checker: LedgerChecker(), violation: String?.none))

  init(_ census: Watched<CancelCensus>) {
    self.census = census
    census.update { $0.engines += 1 }
  }

  deinit { census.update { $0.engines -= 1 } }

  /// A tracer that checks each event with this object.
  var code: StageCode {
    StageCode(observing: { [self] event in
      state.withLock { state in
        do throws(LedgerViolation) { try state.checker.check(LedgerEntry(event)) } catch {
          if state.violation == nil { state.violation = "\(error) (\(LedgerEntry(event)))" }
        }
      }
    })
  }

  /// Returns the number of transactions, and the first violation if there is one. A transaction that has not ended is a
  /// violation too.
  func finish() -> (transactions: Int, violation: String?) {
    state.withLock { state in
      do throws(LedgerViolation) { try state.checker.finish() } catch {
        if state.violation == nil { state.violation = "\(error)" }
      }
      return (state.checker.transactions, state.violation)
    }
  }
}
