package import SluiceAssembly
import SluiceMessages
package import SluicePipeline
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
    var waiting: [RecordedExchange] = []
    var waitingBytes = 0
    /// The last call-outs of earlier samples: their answers, such as a token, often serve later ones.
    var callOuts = RecentCallOuts()
    var status = ShadowStatus()
    /// The first differences, and the first samples that were not compared.
    var findings = ReplayReport()
    var isOver = false
    var task: Task<Void, Never>?
  }

  /// The samples that can wait, together. Beyond that, new ones are dropped.
  private static let (waitingCount, waitingBytes) = (4 * Replay.maximumExchanges, 16 << 20)
  /// The size of the samples of one replay. Its limit is for their text, which is larger.
  private static let batchBytes = 4 << 20
  /// How many samples the findings show.
  private static let shownCount = 100

  private let settings: ShadowSettings
  private let replay: Replay
  private let (old, new): (Replay.Build, Replay.Build)
  private let state = Locked(State())

  package init(_ settings: ShadowSettings, _ replay: Replay, old: Replay.Build, new: Replay.Build) {
    var replay = replay
    replay.ignored = settings.ignored
    (self.settings, self.replay, self.old, self.new) = (settings, replay, old, new)
  }

  package var status: ShadowStatus {
    state.withLock { state in
      var status = state.status
      status.waiting = state.waiting.count
      status.findings = state.findings.findings()
      return status
    }
  }

  /// Takes a sample.
  package func note(_ sample: RecordedExchange) {
    let byteCount = sample.byteCount
    state.withLock { state in
      guard !state.isOver else { return }
      guard state.waiting.count < Self.waitingCount, state.waitingBytes + byteCount <= Self.waitingBytes else {
        state.status.dropped += 1
        return
      }
      state.waiting.append(sample)
      state.waitingBytes += byteCount
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
      state.status.dropped += state.waiting.count
      state.waiting = []
      state.task?.cancel()
      return true
    }
  }

  private func takeBatch() -> [RecordedExchange] {
    state.withLock { state in
      var (count, byteCount) = (0, 0)
      for sample in state.waiting.prefix(Replay.maximumExchanges) {
        guard count == 0 || byteCount + sample.byteCount <= Self.batchBytes else { break }
        count += 1
        byteCount += sample.byteCount
      }
      var batch = Array(state.waiting.prefix(count))
      state.waiting.removeFirst(count)
      state.waitingBytes -= byteCount
      let earlier = state.callOuts.takeAll()
      for call in earlier + batch.flatMap(\.callOuts) { state.callOuts.append(call) }
      if !batch.isEmpty { batch[0].callOuts = earlier + batch[0].callOuts }
      return batch
    }
  }

  private func compare(_ batch: [RecordedExchange]) async {
    let report: ReplayReport
    do throws(EngineError) { report = try await replay.compare(batch, old: old, new: new) } catch {
      report = ReplayReport(
        omissions: batch.indices.map { ReplayReport.Omission(index: $0, reason: error.description) })
    }
    guard !Task.isCancelled else { return }
    state.withLock { state in
      let earlier = state.status.replayed
      state.status.add(report, of: batch.count)
      state.findings.add(report, after: earlier, keeping: Self.shownCount)
    }
  }

  private var verdict: Verdict {
    state.withLock { state in
      let status = state.status
      var breach: String?
      if let failure = state.findings.failures.first(where: { $0.side == .new }) {
        breach = "in its shadow: \(failure.error)"
      } else if status.different > settings.differences {
        let example = state.findings.example.map { ", for instance \($0)" } ?? ""
        breach =
          "different in \(Figures.count(status.different)) of \(Figures.count(status.compared)) samples\(example)"
      }
      return Verdict(breach: breach, isPassed: status.compared > 0 && status.notCompared <= status.compared)
    }
  }
}

/// What the replays of a shadow have shown so far, in samples.
package struct ShadowStatus: Sendable, Hashable {
  package var same = 0
  package var different = 0
  /// Those that were not compared completely, for instance because a build made a call-out that has no recorded answer.
  package var notCompared = 0
  /// Those that wait for their replay.
  package var waiting = 0
  /// Those that were not kept, because too many waited.
  package var dropped = 0
  /// Lines about the differences, and about what was not compared.
  package var findings: [String] = []

  package init() {}

  package var compared: Int { same + different }

  fileprivate var replayed: Int { compared + notCompared }

  fileprivate mutating func add(_ report: ReplayReport, of count: Int) {
    let compared = report.comparisons.filter(\.notCompared.isEmpty)
    same += compared.count(where: \.isSame)
    different += compared.count { !$0.isSame }
    notCompared += count - compared.count
  }
}

extension ReplayReport {
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
      guard comparisons.count(where: { $0.notCompared.isEmpty == comparison.notCompared.isEmpty }) < limit else {
        continue
      }
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
