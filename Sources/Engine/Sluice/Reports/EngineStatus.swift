package import SluiceAssembly
package import SluiceMessages
package import SluicePipeline
package import SluiceReplay

/// The builds of an engine, its swaps, and what the engine waits for, at one moment.
public struct EngineStatus: Sendable, Hashable {
  /// The number of the snapshot on which new transactions run. Snapshots are counted from 1.
  public var snapshot: Int
  /// All builds that the engine has mapped, with the oldest first.
  public var generations: [Generation]
  /// The number of builds that the engine has mapped, and the limit of this number.
  package var budget: Budget
  /// The memory that the mappings of these builds can take, in bytes.
  package var budgetBytes: Budget
  /// The number of replaced snapshots that have not ended, plus the number of builds that have not returned from a step
  /// of a swap. At the limit, swaps are refused.
  package var replaced: Budget
  /// Nil if no canary is running.
  package var canary: Canary?
  /// Whether a request that can end a canary has no report yet. Then ``history`` does not have the end of the canary.
  package var isDeciding: Bool
  /// Nil if no snapshot is on probation.
  package var probation: Probation?
  /// The swap that is under way.
  package var running: Running?
  /// The number of swaps that wait for another swap.
  package var queued: Int
  /// The publications and drains that are delayed because a loop does not answer.
  package var waits: [Wait]
  /// The reports of the last swaps, with the oldest first.
  package var history: [SwapReport]
  /// Refused builds: SHA-256 in hex, and the reason.
  package var refused: [String: String]
  /// Loops that did not report their transactions in time. The status does not contain these transactions.
  package var silentLoops: [Int]
  /// Calls that have blocked their loop for longer than the watchdog allows.
  package var stalls: [Stall]

  package struct Budget: Sendable, Hashable {
    package var used: Int
    package var limit: Int
  }

  /// A swap that has begun.
  package struct Running: Sendable, Hashable {
    package enum Step: String, Sendable, Hashable {
      /// The new builds are read, tried out, created and activated.
      case preparing
      /// The loops take the new snapshot.
      case publishing
    }

    /// The same value as in the swap's report.
    package var id: Int
    package var trigger: SwapReport.Trigger
    package var step: Step
    /// The time since the swap began, without the time in the queue.
    package var age: Duration
  }

  /// A loop for which the engine waits.
  package struct Wait: Sendable, Hashable {
    package enum Purpose: String, Sendable, Hashable {
      /// The loop has not taken the published snapshot. Its new transactions would run on an older snapshot.
      case publication
      /// A replaced snapshot cannot end before the loop answers, because the loop might still use it.
      case drain
    }

    package var purpose: Purpose
    /// The snapshot that the loop must take, or that must end.
    package var snapshot: Int
    /// The time since the loop was asked.
    package var age: Duration
    /// What blocks the loop.
    package var obstacle: LoopObstacle
  }

  /// New builds that serve a part of the new transactions.
  package struct Canary: Sendable, Hashable {
    /// What has happened to the transactions of an arm since the step began.
    package struct Arm: Sendable, Hashable {
      package var snapshot: Int
      package var counts: ArmCounts
    }

    package var candidate: Arm
    package var control: Arm
    /// The builds that differ.
    package var changes: [SwapReport.Change]
    package var settings: CanarySettings
    /// The index of the step.
    package var step: Int
    /// What its samples have shown; nil if it is not in its shadow.
    package var shadow: ShadowStatus?
    /// The minimum time of the step.
    package var hold: Duration
    /// The time since the step began; nil while the loops take it.
    package var age: Duration?
    /// The number of the candidate's transactions at which the arms are compared next; nil after the last comparison.
    package var nextLook: UInt64?
    /// How many unhealthy transactions of the candidate would end the canary then, if the control's counts stay what they
    /// are.
    package var limit: UInt64?
  }

  package struct Probation: Sendable, Hashable {
    /// The snapshot to which the engine returns after a breach.
    package var standby: Int
    package var remaining: Duration
    /// Transactions of the new snapshot that have ended.
    package var transactions: Int
    /// Whether the new snapshot was a canary before.
    package var followsCanary: Bool
  }

  /// A call of a plugin that has blocked an event loop for longer than `watchdog.limit`. All other work on that loop
  /// waits.
  package struct Stall: Sendable, Hashable {
    /// The loop's index, from 0.
    package var loop: Int
    /// The instance's name in the configuration; empty if the library has no instance yet.
    package var plugin: String
    /// The plugin's own id.
    package var pluginID: String
    /// The build, as ``Generation/id``.
    package var generation: Int
    /// The function of the plugin, as the headers of the ABI name it.
    package var callback: String
    /// Nil if the call belongs to no transaction.
    package var transaction: TransactionID?
    /// The time since the watchdog first saw the call.
    package var age: Duration
  }

  /// One build of one plugin.
  public struct Generation: Sendable, Hashable, Identifiable {
    /// What a build does at the moment. Only ``active`` and ``probation`` builds serve new transactions.
    public enum State: Sendable, Hashable {
      /// Mapped, and not published yet.
      case preparing
      /// Serves new transactions.
      case active
      /// Serves a part of the new transactions, and is compared with the build that serves the others.
      case canary
      /// Serves new transactions, and is compared with the previous snapshot.
      case probation
      /// Served before; the engine can return to it.
      case standby
      /// Finishes its transactions.
      case draining
      /// Has ended, and stays mapped. The text says how it ended.
      case parked(String)
      /// Was mapped, but never served. The text says why it was refused.
      case refused(String)
    }

    /// A transaction that keeps the build from ending.
    package typealias Holder = RunningTransaction

    /// The number of the build in the engine, counted from 1; log lines name it.
    public var id: Int
    /// What the build does at the moment of this status.
    public var state: State
    /// The path in the configuration.
    public var library: String
    /// The instances, by their names in the configuration.
    public var plugins: [String]
    /// The plugin's own id; empty if the build was refused before it was known.
    public var pluginID: String
    /// The plugin's own version; empty if the build was refused before it was known.
    public var version: String
    /// SHA-256 of the library, in hex.
    public var hash: String
    /// The build id that the linker wrote into the library, in hex; nil if there is none.
    public var buildID: String?
    /// Transactions that run on a snapshot with this build.
    package var leases = 0
    /// Calls of its stages that are suspended.
    package var suspended = 0
    /// Notifications and scheduled work without an outcome.
    package var completions = 0
    /// Active timers and schedules.
    package var timers = 0
    /// Call-outs, posted functions and blocking calls that have not returned.
    package var openCalls = 0
    /// The number of the build's ABI violations.
    package var violations = 0
    /// The oldest transactions that keep the build from ending; at most ``holderLimit``.
    package var holders: [Holder] = []

    package static let holderLimit = 16
  }

  /// The build that serves a plugin; nil if there is no plugin of that name, or no build serves it.
  package func serving(_ plugin: String) -> Generation? {
    generations.last { $0.plugins.contains(plugin) && ($0.state == .active || $0.state == .probation) }
  }
}

extension EngineStatus.Generation.State: CustomStringConvertible {
  /// A code for programs: `preparing`, `active`, `canary`, `probation`, `standby`, `draining`, `parked`, `refused`.
  public var description: String {
    switch self {
    case .preparing: "preparing"
    case .active: "active"
    case .canary: "canary"
    case .probation: "probation"
    case .standby: "standby"
    case .draining: "draining"
    case .parked: "parked"
    case .refused: "refused"
    }
  }

  /// How a build has ended; nil for other states.
  public var reason: String? {
    switch self {
    case .parked(let reason), .refused(let reason): reason
    case .preparing, .active, .canary, .probation, .standby, .draining: nil
    }
  }
}
