/// The counts of pipelines up to one moment: those of one loop, or the sum over several loops and earlier pipelines.
public struct MetricsSnapshot: Sendable, Hashable {
  /// Transactions that began, including those in flight.
  public internal(set) var begun: UInt64 = 0
  /// Transactions that ended, by outcome.
  public internal(set) var outcomes: [OutcomeClass: UInt64] = [:]
  /// Transactions that ended, by the class of their final status.
  package internal(set) var statuses: [StatusClass: UInt64] = [:]
  /// Transactions that failed, that ended with a status of 5xx, or in which a stage broke a rule or missed its deadline.
  /// A cancelled transaction does not count.
  package internal(set) var unhealthy: UInt64 = 0
  /// The time from submission to the end, in nanoseconds; one entry for each transaction that ended.
  public internal(set) var duration = LatencySnapshot()
  /// Attempts of all transactions, including the first of each.
  public internal(set) var attempts: UInt64 = 0
  /// Decisions to make another attempt, by stages and by the retry policy.
  public internal(set) var retries: UInt64 = 0
  /// Attempts that the retry policy wanted and its budget did not allow.
  public internal(set) var retriesOverBudget: UInt64 = 0
  /// Redirects that were followed.
  public internal(set) var redirects: UInt64 = 0
  /// Requests on the wire, including those after redirects and challenges.
  public internal(set) var hops: UInt64 = 0
  /// Bytes of all requests on the wire, heads and bodies.
  public internal(set) var bytesSent: UInt64 = 0
  /// Bytes of all response bodies on the wire, before decoding.
  public internal(set) var bytesReceived: UInt64 = 0
  /// One entry for each phase and name. The entries are in the order of the phases, and within a phase in the order of
  /// its list of stages. A stage that is listed twice in a phase has one entry.
  package internal(set) var stages: [StageSnapshot] = []
  package internal(set) var tracers: [TracerSnapshot] = []

  package init() {}

  /// The sum of several snapshots.
  package init(merging snapshots: some Sequence<MetricsSnapshot>) {
    self.init()
    for snapshot in snapshots { merge(snapshot) }
  }

  /// Transactions that ended, with any outcome.
  public var completed: UInt64 { outcomes.values.reduce(0, &+) }

  /// Transactions that have begun and not ended.
  public var inFlight: UInt64 { begun > completed ? begun - completed : 0 }

  /// The number of transactions that ended with that outcome.
  public subscript(outcome: OutcomeClass) -> UInt64 { outcomes[outcome] ?? 0 }

  package subscript(status: StatusClass) -> UInt64 { statuses[status] ?? 0 }

  /// The counts of a stage in one phase; nil if the stage is not in that phase.
  package func stage(_ phase: StagePhase, _ name: String) -> StageSnapshot? {
    stages.first { $0.phase == phase && $0.name == name }
  }

  package func tracer(_ name: String) -> TracerSnapshot? { tracers.first { $0.name == name } }

  /// Adds the counts of other loops; stages and tracers are matched by phase and name. Stages and tracers that are new
  /// are added at the end of their phase.
  package mutating func merge(_ other: MetricsSnapshot) {
    begun &+= other.begun
    outcomes.merge(other.outcomes, uniquingKeysWith: &+)
    statuses.merge(other.statuses, uniquingKeysWith: &+)
    unhealthy &+= other.unhealthy
    duration.merge(other.duration)
    attempts &+= other.attempts
    retries &+= other.retries
    retriesOverBudget &+= other.retriesOverBudget
    redirects &+= other.redirects
    hops &+= other.hops
    bytesSent &+= other.bytesSent
    bytesReceived &+= other.bytesReceived
    for stage in other.stages { merge(stage) }
    for tracer in other.tracers { merge(tracer) }
  }

  mutating func merge(_ stage: StageSnapshot) {
    if let index = stages.firstIndex(where: { $0.phase == stage.phase && $0.name == stage.name }) {
      stages[index].merge(stage)
    } else {
      let end = stages.lastIndex { $0.phase.rawValue <= stage.phase.rawValue }
      stages.insert(stage, at: end.map { $0 + 1 } ?? 0)
    }
  }

  mutating func merge(_ tracer: TracerSnapshot) {
    if let index = tracers.firstIndex(where: { $0.name == tracer.name }) {
      tracers[index].merge(tracer)
    } else {
      tracers.append(tracer)
    }
  }
}
