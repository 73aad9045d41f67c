package import SluicePluginImage
import SluiceSupport

extension StartProbe {
  /// The number of trials at the same time: each needs a process, and a processor for a moment.
  private static var width: Int { 4 }

  /// Examines all candidates, several at the same time; returns for each, in order, why it is refused.
  package func examineAll(_ candidates: [ProbeCandidate]) -> [PluginError?] {
    let work = Locked((next: 0, refusals: [PluginError?](repeating: nil, count: candidates.count)))
    let run: @Sendable () -> Void = {
      while true {
        let index = work.withLock { work in
          defer { work.next += 1 }
          return work.next
        }
        guard index < candidates.count else { return }
        let refusal = refusal(of: candidates[index])
        work.withLock { $0.refusals[index] = refusal }
      }
    }
    let others = Monitor(0)
    for _ in 1..<max(1, min(Self.width, candidates.count)) {
      others.withLock { $0 += 1 }
      if !SystemThread.start(run, then: { others.update { $0 -= 1 } }) { others.withLock { $0 -= 1 } }
    }
    run()
    // This wait ends, because each trial has a time limit.
    return others.wait { running in running == 0 ? work.withLock { $0.refusals } : nil }
  }

  private func refusal(of candidate: ProbeCandidate) -> PluginError? {
    do throws(PluginError) {
      try examineAndWait(candidate)
      return nil
    } catch { return error }
  }
}
