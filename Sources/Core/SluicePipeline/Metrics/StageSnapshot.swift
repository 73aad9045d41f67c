/// The counts of a stage in one phase, on one loop or on several loops together.
package struct StageSnapshot: Sendable, Hashable {
  package let phase: StagePhase
  /// The name of the instance in the configuration.
  package let name: String
  /// The time spent in the stage's own calls, in nanoseconds, one entry for each call. The time of suspensions is not
  /// included.
  package private(set) var time: LatencySnapshot
  /// The number of broken rules, without timeouts.
  package private(set) var faults: UInt64
  /// Suspended calls that were not resumed within the deadline.
  package private(set) var timeouts: UInt64
  /// Faults and timeouts after which the stage's failure policy let the transaction continue.
  package private(set) var skips: UInt64

  package var calls: UInt64 { time.count }

  init(phase: StagePhase, name: String, time: LatencySnapshot, faults: UInt64, timeouts: UInt64, skips: UInt64) {
    self.phase = phase
    self.name = name
    self.time = time
    self.faults = faults
    self.timeouts = timeouts
    self.skips = skips
  }

  mutating func merge(_ other: StageSnapshot) {
    time.merge(other.time)
    faults &+= other.faults
    timeouts &+= other.timeouts
    skips &+= other.skips
  }
}

/// The counts of a tracer, on one loop or on several loops together.
package struct TracerSnapshot: Sendable, Hashable {
  package let name: String
  /// The time spent in the tracer, in nanoseconds, one entry for each event.
  package private(set) var time: LatencySnapshot
  /// Events that took longer than the tracer's budget.
  package private(set) var overruns: UInt64
  /// Events that did not reach the tracer because its queue was full.
  package private(set) var drops: UInt64

  package var events: UInt64 { time.count }

  init(name: String, time: LatencySnapshot, overruns: UInt64, drops: UInt64) {
    self.name = name
    self.time = time
    self.overruns = overruns
    self.drops = drops
  }

  mutating func merge(_ other: TracerSnapshot) {
    time.merge(other.time)
    overruns &+= other.overruns
    drops &+= other.drops
  }
}
