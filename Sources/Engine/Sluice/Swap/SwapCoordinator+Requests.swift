import SluiceAssembly
import SluiceMessages
import SluicePluginHost
import SluiceSupport

// The steps of swap requests.
extension SwapCoordinator {
  /// What the steps must achieve: the configuration of the new snapshot, and the files to read.
  struct Goal: Sendable {
    enum Kind: Sendable {
      /// The first snapshot of the engine.
      case start
      /// New builds of libraries, with the configuration that serves.
      case swap
      /// Another configuration.
      case reload
    }

    let configuration: Configuration
    let kind: Kind
    /// A start does not wait for files that are missing or incomplete, but fails at once.
    var patience: ReadingPatience { kind == .start ? .none : .swap }
    /// The libraries that are checked, and the files from which they are read.
    let sources: [(library: String, file: String)]
    /// Nil if the snapshot gets all new transactions at once.
    var canary: CanaryGoal?
  }

  /// Performs the steps of a request, up to the snapshot that is to be published.
  func steps(of request: SwapRequest, _ changes: inout [SwapReport.Change]) async throws(SwapStop) -> Snapshot {
    switch request.kind {
    case .swap(let names, _): try await swap(names, request, &changes)
    case .reload: try await reload(request, &changes)
    case .rollback: try await rollBack(&changes)
    // These requests publish a snapshot that exists, so the machine never asks for their steps.
    case .breach, .step, .promotion, .abort: throw .impossible("there is no snapshot to return to")
    }
  }

  private func swap(
    _ names: Set<String>?, _ request: SwapRequest, _ changes: inout [SwapReport.Change]
  ) async throws(SwapStop) -> Snapshot {
    let configuration = published.configuration
    for name in (names ?? []).sorted() {
      guard let plugin = configuration.plugins.first(where: { $0.name == name }) else {
        let known = configuration.plugins.map { "\"\($0.name)\"" }.joined(separator: ", ")
        throw .impossible("no plugin is named \(PlainText.quote(name)); there are \(known)")
      }
      guard plugin.library != nil else {
        throw .impossible("plugin \"\(name)\" has no library to swap; it is part of the program")
      }
    }
    let libraries = configuration.libraries.filter { library in
      names.map { !$0.isDisjoint(with: configuration.plugins(of: library)) } ?? true
    }
    let goal = Goal(
      configuration: configuration, kind: .swap, sources: libraries.map { ($0, request.sources[$0] ?? $0) },
      canary: try canaryGoal(request.canary, configuration))
    return try await make(goal, &changes)
  }

  private func reload(
    _ request: SwapRequest, _ changes: inout [SwapReport.Change]
  ) async throws(SwapStop) -> Snapshot {
    let configuration = request.configuration ?? published.configuration
    let fixed = configuration.fixedDifferences(from: published.configuration)
    guard fixed.isEmpty else {
      let keys = fixed.map { "\"\($0)\"" }.joined(separator: ", ")
      throw .impossible("\(keys) cannot change while the engine runs; restart it to use the new value")
    }
    let sources = configuration.libraries.map { ($0, $0) }
    let goal = Goal(
      configuration: configuration, kind: .reload, sources: sources,
      canary: try canaryGoal(request.canary, configuration))
    return try await make(goal, &changes)
  }

  /// Returns to a snapshot that has ended. Its builds are loaded again from their private copies.
  private func rollBack(_ changes: inout [SwapReport.Change]) async throws(SwapStop) -> Snapshot {
    let current = published
    guard let point = state.withLock({ $0.restorePoint }) else {
      throw .impossible("there is no snapshot to return to: this is the first one, or the result of a rollback")
    }
    // Builds that still serve are not read again.
    let builds = point.builds.filter { current.generation(of: $0.key)?.hash != $0.value.hash }
    let sources = builds.map { ($0.key, $0.value.copy) }.sorted { $0.0 < $1.0 }
    return try await make(Goal(configuration: point.configuration, kind: .reload, sources: sources), &changes)
  }
}
