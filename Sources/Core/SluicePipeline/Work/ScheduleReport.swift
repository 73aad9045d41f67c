package import SluiceMessages

/// The results so far of one kind of scheduled work of one plugin instance.
package struct ScheduleReport: Sendable, Hashable {
  /// The instance's name in the configuration.
  package let stage: String
  /// The id of the plugin.
  package let plugin: String
  package let generation: Int
  /// The name that the plugin gave.
  package let name: String
  /// The period and the timeout of the last schedule with that name.
  package private(set) var period: Duration
  package private(set) var deadline: Duration
  /// The number of calls by outcome.
  package private(set) var counts: [WorkOutcome: Int] = [:]
  /// Periods in which the previous call was still open.
  package private(set) var leftOut = 0
  /// The last outcome, and the time between the due time and this outcome.
  package private(set) var lastOutcome: WorkOutcome?
  package private(set) var lastDuration: Duration?

  package init(
    stage: String, plugin: String, generation: Int, name: String, period: Duration, deadline: Duration
  ) {
    self.stage = stage
    self.plugin = plugin
    self.generation = generation
    self.name = name
    self.period = period
    self.deadline = deadline
  }

  package subscript(outcome: WorkOutcome) -> Int { counts[outcome] ?? 0 }

  package mutating func count(_ outcome: WorkOutcome, after duration: Duration) {
    counts[outcome, default: 0] += 1
    lastOutcome = outcome
    lastDuration = duration
  }

  /// Counts skipped periods; returns the total so far.
  package mutating func countLeftOut(_ periods: Int) -> Int {
    leftOut += periods
    return leftOut
  }

  /// Called when the plugin has created a schedule of the same name again.
  package mutating func restart(period: Duration, deadline: Duration) {
    self.period = period
    self.deadline = deadline
  }
}
