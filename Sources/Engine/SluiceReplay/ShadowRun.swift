package import SluiceAssembly
import SluiceMessages
package import SluicePipeline
import SluicePluginHost
import SluiceSupport

/// The shadow of a canary: keeps samples of the traffic until the old and the new build have replayed them, and counts
/// what the replays show. Can be used on any thread.
package final class ShadowRun: Sendable {
  /// What the samples so far say about the new build.
  package struct Verdict: Sendable, Hashable {
    /// Why the new build must not get live requests; nil without a reason.
    package var breach: String?
    /// Whether enough was compared: at least one sample, and not less than half of them.
    package var isPassed: Bool
  }

  private struct State: Sendable {
    var waiting: [(sample: RecordedExchange, byteCount: Int)] = []
    var waitingBytes = 0
    /// The number of transactions that are recorded now.
    var recordingCount = 0
    var status = ShadowStatus()
    /// The first differences, and the first samples that were not compared.
    var findings = ReplayReport()
    /// Why the new build failed where the old one did not.
    var failure: PluginError?
    var isOver = false
    var task: Task<Void, Never>?
  }

  /// The samples that can wait, together. Beyond that, new ones are dropped.
  private static let (waitingCount, waitingBytes) = (4 * Replay.maximumExchanges, 16 << 20)
  /// The transactions that can be recorded at the same time. Each can take a few MiB.
  private static let recordingCount = 16
  /// The size of the samples of one replay. Its limit is for their text, which is larger.
  private static let batchBytes = 4 << 20
  /// How many samples the findings show.
  private static let shownCount = 100
  /// The maximum size of the example in the reason for the end of a rollout.
  private static let exampleBytes = 300

  private let settings: ShadowSettings
  private let replay: Replay
  private let (old, new): (Replay.Build, Replay.Build)
  private let callOuts: @Sendable () -> [RecordedCallOut]
  private let state = Locked(State())

  /// - Parameter callOuts: returns the last call-outs of the engine. Their answers, such as a token, often serve many
  ///   samples.
  package init(
    _ settings: ShadowSettings, _ replay: Replay, old: Replay.Build, new: Replay.Build,
    callOuts: @escaping @Sendable () -> [RecordedCallOut] = { [] }
  ) {
    var replay = replay
    (replay.ignored, replay.showsOutput) = (settings.ignored, false)
    (self.settings, self.replay, self.old, self.new) = (settings, replay, old, new)
    self.callOuts = callOuts
  }

  package var status: ShadowStatus {
    var (status, findings) = state.withLock { ($0.status, $0.findings) }
    status.findings = findings.findings()
    return status
  }

  /// Whether there is room for one more sample. If so, ``end(_:)`` must follow.
  package func begin() -> Bool {
    state.withLock { state in
      let hasRoom = state.waiting.count < Self.waitingCount && state.waitingBytes < Self.waitingBytes
      guard !state.isOver, hasRoom, state.recordingCount < Self.recordingCount else {
        state.status.dropped += 1
        return false
      }
      state.recordingCount += 1
      return true
    }
  }

  /// Takes a sample; nil if the transaction has no recording.
  package func end(_ sample: RecordedExchange?) {
    let byteCount = sample?.byteCount ?? 0
    state.withLock { state in
      state.recordingCount -= 1
      guard let sample, !state.isOver, state.waitingBytes + byteCount <= Self.waitingBytes else {
        state.status.dropped += 1
        return
      }
      state.waiting.append((sample, byteCount))
      state.waitingBytes += byteCount
      state.status.waiting += 1
    }
  }

  /// Replays the samples that wait, and then calls the completion, unless the shadow ends before that.
  package func compareWaiting(_ completion: @escaping @Sendable (Verdict) -> Void) {
    let task = Task.detached { [self] in
      // At most as much as can wait, so that the call ends even if samples arrive faster than they are replayed.
      for _ in 0..<(Self.waitingBytes / Self.batchBytes) {
        let batch = takeBatch()
        guard !batch.isEmpty, !Task.isCancelled, verdict.breach == nil else { break }
        await compare(batch)
      }
      if !state.withLock({ $0.isOver }) { completion(verdict) }
    }
    let isOver = state.withLock { state in
      state.task = task
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  /// Ends the replays, and drops the samples that wait. Returns false if they have ended before.
  package func end() -> Bool {
    state.withLock { state in
      guard !state.isOver else { return false }
      state.isOver = true
      // Those that are being replayed are among them.
      state.status.dropped += state.status.waiting
      (state.waiting, state.status.waiting) = ([], 0)
      state.task?.cancel()
      return true
    }
  }

  private func takeBatch() -> [RecordedExchange] {
    let callOuts = callOuts()
    return state.withLock { state in
      var (count, byteCount) = (0, 0)
      for waiting in state.waiting.prefix(Replay.maximumExchanges) {
        guard count == 0 || byteCount + waiting.byteCount <= Self.batchBytes else { break }
        count += 1
        byteCount += waiting.byteCount
      }
      var batch = state.waiting.prefix(count).map(\.sample)
      state.waiting.removeFirst(count)
      state.waitingBytes -= byteCount
      if !batch.isEmpty { batch[0].callOuts = callOuts }
      return batch
    }
  }

  private func compare(_ batch: [RecordedExchange]) async {
    var report = await report(batch)
    let failure = await confirmedFailure(report, batch)
    report.failures = report.failures.filter { $0.side == .old || $0.error == failure }
    report.hideBodies()
    guard !Task.isCancelled else { return }
    state.withLock { state in
      guard !state.isOver else { return }
      state.failure = state.failure ?? failure
      let earlier = state.status.compared + state.status.notCompared
      state.status.add(report, of: batch.count)
      state.findings.add(report, after: earlier, keeping: Self.shownCount)
    }
  }

  private func report(_ batch: [RecordedExchange]) async -> ReplayReport {
    do throws(EngineError) { return try await replay.compare(batch, old: old, new: new) } catch {
      return ReplayReport(
        omissions: batch.indices.map { ReplayReport.Omission(index: $0, reason: error.description) })
    }
  }

  /// Why the new build failed, if that is not the fault of the machine: the old build did not fail with the same samples,
  /// and a time limit also passes if the sample at which it passed is replayed alone.
  private func confirmedFailure(_ report: ReplayReport, _ batch: [RecordedExchange]) async -> PluginError? {
    guard let error = report.lonelyFailure else { return nil }
    guard error.code == .trialTimedOut else { return error }
    guard let place = report.omissions.first?.index, batch.indices.contains(place) else { return nil }
    var sample = batch[place]
    sample.callOuts = batch[0].callOuts
    return await self.report([sample]).lonelyFailure
  }

  private var verdict: Verdict {
    let (status, findings, failure) = state.withLock { ($0.status, $0.findings, $0.failure) }
    var breach: String?
    if let failure {
      breach = "in its shadow: \(failure)"
    } else if status.different > settings.differences {
      let example =
        findings.comparisons.first(where: \.isDifferent)?.example.map {
          ", for instance \(PlainText.line($0, limitBytes: Self.exampleBytes))"
        } ?? ""
      breach = "different in \(Figures.count(status.different)) of \(Figures.count(status.compared)) samples\(example)"
    }
    return Verdict(breach: breach, isPassed: status.compared > 0 && status.notCompared <= status.compared)
  }
}

/// What the replays of a shadow have shown so far, in samples.
package struct ShadowStatus: Sendable, Hashable {
  package var same = 0
  package var different = 0
  /// Those that were not compared completely, for instance because a build made a call-out that has no recorded answer.
  package var notCompared = 0
  /// Those that wait for their replay, or for its end.
  package var waiting = 0
  /// Those that were not recorded, because there was no room for them, or whose replay had not ended with the shadow.
  package var dropped = 0
  /// Lines about the differences, and about what was not compared.
  package var findings: [String] = []

  package init() {}

  package var compared: Int { same + different }

  /// Whether there were no samples.
  package var isSilent: Bool { compared + notCompared + waiting + dropped == 0 }

  fileprivate mutating func add(_ report: ReplayReport, of count: Int) {
    let (before, sames) = (compared, report.comparisons.count(where: \.isSame))
    same += sames
    different += report.comparisons.count(where: \.isDifferent)
    notCompared += count - (compared - before)
    waiting -= count
  }
}

extension ReplayComparison {
  /// Whether the new build did something else, although the old one did what it did live.
  fileprivate var isDifferent: Bool { isOldAsRecorded && !differences.isEmpty }
}

extension ReplayDifference {
  fileprivate mutating func hideBody() {
    guard subject == "body" || subject.hasSuffix(" body") else { return }
    (old, new) = (old.map { _ in "a body" }, new.map { _ in old == nil ? "a body" : "another body" })
  }
}

extension ReplayReport {
  /// The failure of the new build, if the old one did not fail; nil if the machine can be the reason.
  fileprivate var lonelyFailure: PluginError? {
    guard failures.allSatisfy({ $0.side == .new && !$0.isKill }) else { return nil }
    return failures.first?.error
  }

  /// Removes what bodies contain, because the findings are logged and stored.
  fileprivate mutating func hideBodies() {
    for index in comparisons.indices {
      for place in comparisons[index].differences.indices {
        comparisons[index].differences[place].hideBody()
      }
    }
  }

  /// Adds what another report has found in later exchanges.
  ///
  /// - Parameters:
  ///   - count: the number of earlier exchanges.
  ///   - limit: the maximum number of comparisons and omissions of each kind.
  fileprivate mutating func add(_ other: ReplayReport, after count: Int, keeping limit: Int) {
    for failure in other.failures where !failures.contains(where: { $0.side == failure.side }) {
      failures.append(failure)
    }
    for var comparison in other.comparisons where !comparison.isSame {
      guard comparisons.count(where: { $0.isDifferent == comparison.isDifferent }) < limit else { continue }
      comparison.index += count
      comparison.variations = []
      comparisons.append(comparison)
    }
    for var omission in other.omissions.prefix(max(limit - omissions.count, 0)) {
      omission.index += count
      omissions.append(omission)
    }
  }
}
