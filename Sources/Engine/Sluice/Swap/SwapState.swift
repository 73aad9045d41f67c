import SluiceAssembly
import SluicePipeline
import SluicePluginHost

/// The state that a coordinator keeps under its lock: the machine that decides, and the objects that the machine's
/// numbers refer to.
struct SwapState: Sendable {
  static let historyLimit = 100

  /// The configuration and the builds of the snapshot before the published one. A rollback uses them if that snapshot
  /// has ended.
  struct RestorePoint: Sendable {
    let configuration: Configuration
    /// The private copy and the hash of each library.
    let builds: [String: (copy: String, hash: ContentHash)]
  }

  var machine: SwapMachine
  /// Actions that are to be performed, in order.
  var actions: [SwapMachine.Action] = []
  /// Whether taken actions are being performed.
  var isPerforming = false
  /// Whether a thread exists that performs the actions.
  var hasPerformer = false
  var isOver = false

  var live: LiveSnapshots
  var restorePoint: RestorePoint?
  /// The canary that is running, or is about to begin.
  var canary: CanaryProgress?
  /// The counts of ended snapshots.
  var retired = MetricsSnapshot()

  var requests: [Int: SwapRequest] = [:]
  /// The changes that each request makes, by the number of the request.
  var changes: [Int: [SwapReport.Change]] = [:]
  /// The task that performs the steps of the current request.
  var steps: Task<Void, Never>?
  var lastRequest = 0
  var lastSnapshot = 0
  var history: [SwapReport] = []
  var counts = SwapCounts()

  /// - Parameter published: the snapshot that all loops have. This object must be created before any loop begins a
  ///   transaction.
  init(published: Snapshot, loops: Int) {
    live = LiveSnapshots(published: published)
    lastSnapshot = published.number
    machine = SwapMachine(loops: loops, snapshot: published.number, published.configuration.swap.terms)
  }

  var isClosed: Bool { machine.isClosed }

  var published: Snapshot { live.published }

  var standby: Snapshot? { machine.standby.flatMap { live[$0.snapshot] } }

  mutating func note(_ report: SwapReport) {
    counts.add(report.outcome)
    history.append(report)
    if history.count > Self.historyLimit { history.removeFirst(history.count - Self.historyLimit) }
  }

  /// Removes a snapshot from the live snapshots, but keeps its counts. Returns the parts that no other snapshot has.
  mutating func release(_ snapshot: Snapshot) -> [SnapshotPart] {
    retired.merge(snapshot.pipeline.counts)
    return live.release(snapshot)
  }
}

extension SwapState.RestorePoint {
  init(_ snapshot: Snapshot) {
    configuration = snapshot.configuration
    builds = Dictionary(snapshot.generations.map { ($0.library, ($0.copy, $0.hash)) }) { first, _ in first }
  }
}

extension CanarySettings {
  var terms: SwapMachine.CanaryTerms {
    SwapMachine.CanaryTerms(steps: shares.count, hold: hold, shadow: shadow?.duration)
  }
}

extension SwapSettings {
  var terms: SwapMachine.Terms {
    SwapMachine.Terms(
      publish: publish, probation: probation.flatMap { $0.duration > .zero ? $0.duration : nil }, drain: drain)
  }
}
