/// The kind of call that a stage got.
package enum StagePhase: Int, Sendable, Hashable, CaseIterable {
  case request = 0
  case issue = 1
  case response = 2
  /// The calls of the response stages for an attempt that has no response.
  case failure = 3
  /// The calls that ask about a redirect or a challenge.
  case hop = 4
}

/// The counts of one stage in one phase on one loop. The loop's thread writes them; any thread may read them.
final class StageMetrics: Sendable {
  let time = LatencyHistogram()
  let faults = SingleWriterCounter()
  let timeouts = SingleWriterCounter()
  let skips = SingleWriterCounter()

  func snapshot(_ phase: StagePhase, _ name: String) -> StageSnapshot {
    StageSnapshot(
      phase: phase, name: name, time: time.snapshot(), faults: faults.value, timeouts: timeouts.value,
      skips: skips.value)
  }
}

/// The counts of one tracer on one loop.
final class TracerMetrics: Sendable {
  let time = LatencyHistogram()
  let overruns = SingleWriterCounter()
  let drops = SingleWriterCounter()

  func snapshot(_ name: String) -> TracerSnapshot {
    TracerSnapshot(name: name, time: time.snapshot(), overruns: overruns.value, drops: drops.value)
  }
}
