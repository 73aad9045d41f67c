/// In which of its calls a stage was.
package enum StagePhase: Int, Sendable, Hashable, CaseIterable {
  case request = 0
  case issue = 1
  case response = 2
  /// The calls for an attempt without a response, to the stages of the response list.
  case failure = 3
  /// The calls that ask about a redirect or a challenge.
  case hop = 4
}

/// What one stage did in one phase on one loop. Written by the loop's thread, readable from any.
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

/// What one tracer did on one loop.
final class TracerMetrics: Sendable {
  let time = LatencyHistogram()
  let overruns = SingleWriterCounter()
  let drops = SingleWriterCounter()

  func snapshot(_ name: String) -> TracerSnapshot {
    TracerSnapshot(name: name, time: time.snapshot(), overruns: overruns.value, drops: drops.value)
  }
}
