import SluiceMetrics
import SluicePipeline
import SluicePluginHost

/// What a coordinator keeps under its lock.
struct SwapState: Sendable {
  static let historyLimit = 100

  /// The snapshot before the published one, while that is on probation.
  struct Standby: Sendable {
    let snapshot: Snapshot
    let end: ContinuousClock.Instant
    let watch: Task<Void, Never>
  }

  /// What served before the published snapshot, when it is over.
  struct RestorePoint: Sendable {
    let configuration: Configuration
    /// The private copy and the hash of each library.
    let builds: [String: (copy: String, hash: ContentHash)]
  }

  struct Running: Sendable {
    let id: Int
    let task: Task<Void, Never>
  }

  var published: Snapshot
  /// What is being published: some loops have it already.
  var arriving: Snapshot?
  var standby: Standby?
  var restorePoint: RestorePoint?
  var draining: [Snapshot] = []
  /// Those that did not drain; kept, since transactions still run on them.
  var leaked: [Snapshot] = []
  /// Ends of instances that are under way.
  var ending = 0
  /// What was counted on snapshots that are gone.
  var retired = MetricsSnapshot()

  var queue = SwapQueue()
  var requests: [Int: SwapRequest] = [:]
  var running: Running?
  var lastRequest = 0
  var lastSnapshot = 1
  var history: [SwapReport] = []
  var isClosed = false

  init(published: Snapshot) { self.published = published }

  /// Everything that transactions may run on, the published one first.
  var snapshots: [Snapshot] {
    var all = [published]
    for snapshot in [arriving, standby?.snapshot].compactMap(\.self) + draining + leaked
    where !all.contains(where: { $0 === snapshot }) {
      all.append(snapshot)
    }
    return all
  }

  /// Ends the probation, and with it the time of the snapshot before.
  mutating func endStandby() -> Standby? {
    defer { standby = nil }
    if let standby { draining.append(standby.snapshot) }
    return standby
  }

  mutating func note(_ report: SwapReport) {
    history.append(report)
    if history.count > Self.historyLimit { history.removeFirst(history.count - Self.historyLimit) }
  }

  /// Keeps what was counted on a snapshot that is about to go.
  mutating func keepCounts(of snapshot: Snapshot) {
    retired.merge(MetricsSnapshot(merging: snapshot.pipeline.metrics.map { $0.snapshot() }))
  }

  /// Takes a snapshot out of the live ones; gives the parts that no other has.
  mutating func release(_ snapshot: Snapshot) -> [SnapshotPart] {
    draining.removeAll { $0 === snapshot }
    leaked.removeAll { $0 === snapshot }
    let rest = snapshots
    return snapshot.parts.filter { part in
      guard let instance = part.instance else { return false }
      return !rest.contains { $0.holds(instance) }
    }
  }
}

extension SwapState.RestorePoint {
  init(_ snapshot: Snapshot) {
    configuration = snapshot.configuration
    builds = Dictionary(snapshot.generations.map { ($0.library, ($0.copy, $0.hash)) }) { first, _ in first }
  }
}
