import SluiceLocks
import SluicePluginHost

// What is asked for, and what becomes of it.
extension SwapCoordinator {
  /// What the steps are to bring about.
  struct Goal: Sendable {
    let configuration: Configuration
    /// Whether the configuration is the one that serves.
    let isSwap: Bool
    /// The libraries that are looked at, and where their bytes are read.
    let sources: [(library: String, file: String)]
  }

  func run(_ request: SwapRequest) async -> (SwapReport, EngineError?) {
    var changes: [SwapReport.Change] = []
    var reason = request.reason
    var outcome = SwapReport.Outcome.published
    var failure: EngineError?
    do throws(SwapStop) {
      switch request.kind {
      case .swap(let names): try await swap(names, &changes)
      case .reload: try await reload(request.configuration ?? published.configuration, &changes)
      case .rollback: try await rollBack(&changes)
      case .breach(let number):
        try await goBack(from: number, because: request.reason ?? "", &changes)
        outcome = .rolledBack
      }
    } catch {
      reason = error.words ?? reason
      switch error {
      case .unchanged: outcome = .unchanged
      case .superseded: outcome = .superseded
      case .stopped: outcome = state.withLock { $0.isClosed } ? .shutdown : .cancelled
      case .impossible: outcome = .refused
      case .refused(let error):
        outcome = .refused
        failure = error
      }
    }
    var report = request.report(outcome, snapshot: published.number)
    report.changes = changes
    report.reason = reason
    return (report, failure)
  }

  private func swap(_ names: Set<String>?, _ changes: inout [SwapReport.Change]) async throws(SwapStop) {
    let configuration = published.configuration
    for name in (names ?? []).sorted() {
      guard let plugin = configuration.plugins.first(where: { $0.name == name }) else {
        let known = configuration.plugins.map { "\"\($0.name)\"" }.joined(separator: ", ")
        throw .impossible("no plugin is named \"\(name)\"; there are \(known)")
      }
      guard plugin.library != nil else {
        throw .impossible("plugin \"\(name)\" has no library that could be exchanged; it is part of the program")
      }
    }
    let libraries = configuration.libraries.filter { library in
      names.map { !$0.isDisjoint(with: configuration.plugins(of: library)) } ?? true
    }
    let goal = Goal(configuration: configuration, isSwap: true, sources: libraries.map { ($0, $0) })
    try await publish(goal, &changes)
  }

  private func reload(
    _ configuration: Configuration, _ changes: inout [SwapReport.Change]
  ) async throws(SwapStop) {
    let fixed = configuration.fixedDifferences(from: published.configuration)
    guard fixed.isEmpty else {
      let keys = fixed.map { "\"\($0)\"" }.joined(separator: ", ")
      throw .impossible("\(keys) cannot change while the engine runs; restart it to use the new value")
    }
    let sources = configuration.libraries.map { ($0, $0) }
    try await publish(Goal(configuration: configuration, isSwap: false, sources: sources), &changes)
  }

  /// By pointer while the snapshot before stands by; afterwards its builds are loaded again, from their private copies.
  private func rollBack(_ changes: inout [SwapReport.Change]) async throws(SwapStop) {
    let current = published
    if let standby = takeStandby() { return await goBack(to: standby, from: current, &changes) }
    guard let point = state.withLock({ $0.restorePoint }) else {
      throw .impossible("there is no snapshot to go back to: this one was the first, or was gone back to")
    }
    // What serves is not read again.
    let builds = point.builds.filter { current.generation(of: $0.key)?.hash != $0.value.hash }
    let sources = builds.map { ($0.key, $0.value.copy) }.sorted { $0.0 < $1.0 }
    try await publish(Goal(configuration: point.configuration, isSwap: false, sources: sources), &changes)
    state.withLock { $0.restorePoint = nil }
  }

  private func goBack(
    from number: Int, because reason: String, _ changes: inout [SwapReport.Change]
  ) async throws(SwapStop) {
    let current = published
    guard let standby = takeStandby(of: number) else { throw .superseded }
    for record in current.generations where !standby.holds(record) {
      do { try registry.refusals?.add(record.hash.hex, because: reason) } catch {
        log(
          LogLine(
            level: .warning, plugin: record.pluginID, generation: record.id, stage: record.plugins.first,
            message: "\(error)"))
      }
    }
    await goBack(to: standby, from: current, &changes)
  }

  private func goBack(
    to standby: Snapshot, from current: Snapshot, _ changes: inout [SwapReport.Change]
  ) async {
    changes = Self.changes(from: current, to: standby)
    await show(standby)
    drain(current, "the engine went back to snapshot \(standby.number)")
  }

  /// How two snapshots differ in their builds.
  static func changes(from old: Snapshot, to new: Snapshot) -> [SwapReport.Change] {
    new.configuration.libraries.compactMap { library in
      let (before, after) = (old.generation(of: library), new.generation(of: library))
      guard before !== after else { return nil }
      return SwapReport.Change(
        library: library, plugins: new.configuration.plugins(of: library), old: before?.build, new: after?.build)
    }
  }
}
