/// The result of one swap, reload or rollback.
public struct SwapReport: Sendable, Hashable, Identifiable {
  /// The origin of a swap.
  public enum Trigger: String, Sendable, Hashable {
    case swap, reload, rollback
    /// The engine itself, because a new snapshot has failed its probation.
    case probation
    /// A decision about a canary: by its rule, or by command.
    case canary
  }

  /// How a swap ended. Only ``published`` and ``rolledBack`` change the snapshot for new transactions.
  public enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// New transactions run on a new snapshot.
    case published
    /// A part of the new transactions runs on a new snapshot.
    case canary
    /// The engine was shut down before a canary was decided.
    case unfinished
    /// The libraries have the same content as the serving builds.
    case unchanged
    /// The current builds continue to serve; ``SwapReport/reason`` says why.
    case refused
    /// New transactions run on the previous snapshot again.
    case rolledBack = "rolled-back"
    /// A newer request does the work of this one.
    case superseded
    /// The task that requested the swap was cancelled.
    case cancelled
    /// The engine was shut down.
    case shutdown
  }

  /// An old or a new build.
  package struct Build: Sendable, Hashable {
    /// The number of the build in the engine, counted from 1; nil if it was not mapped.
    package var generation: Int?
    /// The version of the plugin; nil for a build that was not mapped and whose note does not have it.
    package var version: String?
    /// SHA-256 of the library, in hex.
    package var hash: String
    package var buildID: String?

    package init(generation: Int? = nil, version: String? = nil, hash: String, buildID: String? = nil) {
      self.generation = generation
      self.version = version
      self.hash = hash
      self.buildID = buildID
    }
  }

  package struct Canary: Sendable, Hashable {
    package var snapshot: Int
    /// Its share of the new transactions; zero during its shadow.
    package var percent: Double

    package init(snapshot: Int, percent: Double) { (self.snapshot, self.percent) = (snapshot, percent) }
  }

  /// One library, with all its instances.
  package struct Change: Sendable, Hashable {
    /// The path in the configuration.
    package var library: String
    /// The instances, by their names in the configuration.
    package var plugins: [String]
    package var old: Build?
    package var new: Build?
    /// What the new build does not replace, although it was published; one sentence about the library each.
    package var warnings: [String] = []

    package init(library: String, plugins: [String], old: Build? = nil, new: Build? = nil) {
      self.library = library
      self.plugins = plugins
      self.old = old
      self.new = new
    }
  }

  /// The number of the swap in the engine, counted from 1.
  public var id: Int
  /// What requested the swap: a call of the program, a command, or the engine itself after a failed probation.
  public var trigger: Trigger
  /// Since 1970-01-01T00:00:00Z.
  package var began: Duration
  /// The time from the call to the end, including the wait for other swaps.
  public var duration: Duration
  /// How the swap ended; ``reason`` has the details.
  public var outcome: Outcome
  /// The snapshot on which new transactions run afterwards.
  public var snapshot: Int
  package var changes: [Change] = []
  /// The snapshot that serves a part of the new transactions, and its share in percent.
  package var canary: Canary?
  /// The snapshot of the canary that this request has ended without publishing it.
  package var endedCanary: Int?
  /// Why nothing was published, why the engine returned to the previous snapshot, or which loops have not taken the new
  /// one: what failed, on what, why, and what to do.
  public var reason: String?
  /// The loops that had not taken the snapshot within `swap.publish`, and what blocks them.
  package var late: [LoopObstacle] = []

  /// What the new builds do not replace, although they were published: `"auth" at libauth.so: 1 unique symbol (…) keeps
  /// the variables of the first generation after a swap; compile with -fno-gnu-unique`.
  public var warnings: [String] { changes.flatMap(\.namedWarnings) }

  /// A report without changes.
  package init(
    id: Int, trigger: Trigger, began: Duration, duration: Duration = .zero, outcome: Outcome, snapshot: Int
  ) {
    self.id = id
    self.trigger = trigger
    self.began = began
    self.duration = duration
    self.outcome = outcome
    self.snapshot = snapshot
  }
}

extension SwapReport: CustomStringConvertible {
  /// One line for people.
  public var description: String { line("") }

  /// Like ``description``, with the time that the swap took, for logs.
  package var lineWithTime: String { line(" after \(duration.milliseconds) ms") }

  private func line(_ took: String) -> String {
    let what = changes.map(\.description).joined(separator: ", ")
    let words =
      switch outcome {
      case .published: "published as snapshot \(snapshot)"
      case .canary: canary.map { "snapshot \($0.snapshot) \(Canary.words($0.percent))" } ?? "serves a part"
      case .unfinished: "not decided before the engine was shut down"
      case .unchanged: "unchanged"
      case .refused: "refused"
      case .rolledBack: "returned to snapshot \(snapshot)"
      case .superseded: "superseded by a newer swap"
      case .cancelled: "cancelled"
      case .shutdown: "stopped, since the engine is shut down"
      }
    return "\(trigger.rawValue) \(id): \(words)\(took)" + (what.isEmpty ? "" : " (\(what))")
      + (reason.map { ": \($0)" } ?? "")
  }
}

extension SwapReport.Canary {
  /// What a canary does with that share: `serves 10 %`.
  package static func words(_ percent: Double) -> String {
    percent == 0 ? "is in its shadow" : "serves \(Figures.percent(percent)) %"
  }
}

extension SwapReport.Change: CustomStringConvertible {
  /// The warnings, with the plugins and the library before them.
  package var namedWarnings: [String] {
    warnings.map { "\(plugins.map { "\"\($0)\"" }.joined(separator: ", ")) at \(library): \($0)" }
  }

  package var description: String {
    let builds = [old, new].compactMap(\.self).map(\.description).joined(separator: " → ")
    return plugins.map { "\"\($0)\"" }.joined(separator: ", ") + (builds.isEmpty ? "" : " \(builds)")
  }
}

extension SwapReport.Build: CustomStringConvertible {
  package var description: String {
    let parts = [version, generation.map { "generation \($0)" }, String(hash.prefix(12))].compactMap(\.self)
    return parts.joined(separator: " ")
  }
}
