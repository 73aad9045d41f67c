import SluiceLocks
import SluicePipeline
import SluicePluginHost
import SluiceTransport

// The way of a new snapshot to its publication.
//
//     read and hash ─ refused before? ─ budget ─ preflight, private copy ─ probe ─ map, enter ─ create ─ pipeline
//       ─ save on the old, load on the new ─ activate ─ publish
//
// Whatever fails before `publish` is undone, and has touched nothing that serves.
extension SwapCoordinator {
  /// For each of the steps that call into a new build.
  static let stepLimit = Duration.seconds(30)
  /// For a state to be saved, what waits in front of it included.
  static let saveLimit = Duration.seconds(5)
  static let probeLimit = Duration.seconds(10)

  /// What the steps are to bring about.
  private struct Goal: Sendable {
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
    if let standby = state.withLock({ $0.standby?.snapshot }) { return await goBack(to: standby, &changes) }
    guard let point = state.withLock({ $0.restorePoint }) else {
      throw .impossible("there is no snapshot to go back to: this one was the first, or was gone back to")
    }
    let sources = point.builds.map { ($0.key, $0.value.copy) }.sorted { $0.0 < $1.0 }
    try await publish(Goal(configuration: point.configuration, isSwap: false, sources: sources), &changes)
    state.withLock { $0.restorePoint = nil }
  }

  private func goBack(
    from number: Int, because reason: String, _ changes: inout [SwapReport.Change]
  ) async throws(SwapStop) {
    let (current, standby) = state.withLock { ($0.published, $0.standby?.snapshot) }
    guard current.number == number, let standby else { throw .superseded }
    for record in current.generations where !standby.holds(record) {
      registry.refusals?.add(record.hash.hex, because: reason)
    }
    await goBack(to: standby, &changes)
  }

  private func goBack(to standby: Snapshot, _ changes: inout [SwapReport.Change]) async {
    let current = published
    changes = Self.changes(from: current, to: standby)
    await show(standby)
    let watch = state.withLock { state in
      defer { (state.standby, state.restorePoint) = (nil, nil) }
      return state.standby?.watch
    }
    // Not with the lock held: what is called by a cancellation may want it.
    watch?.cancel()
    retire(current, "the engine went back to snapshot \(standby.number)")
  }

  private func publish(_ goal: Goal, _ changes: inout [SwapReport.Change]) async throws(SwapStop) {
    let current = published
    let changed = try await read(goal, current, &changes)
    if goal.isSwap, changed.isEmpty { throw .unchanged }
    try checkRefusals(changed, goal.configuration)
    try checkBudget(changed.count, goal.configuration.swap)
    let candidates = try await stage(changed, goal.configuration)
    try await examine(candidates, goal.configuration)
    var generations = current.loaded
    var fresh: [GenerationRecord] = []
    do throws(SwapStop) {
      for candidate in candidates {
        try checkpoint()
        let loaded = try await load(candidate, goal.configuration)
        generations[candidate.library] = loaded
        fresh.append(loaded.record)
      }
      changes = changes.map { change in
        var change = change
        change.new = fresh.first { $0.library == change.library }?.build ?? change.new
        return change
      }
      let snapshot = try await make(goal, generations, following: current)
      await show(snapshot)
      settle(current)
    } catch {
      for record in fresh { record.end(.refused(error.words ?? "the swap was given up")) }
      throw error
    }
  }

  private func checkpoint() throws(SwapStop) { if Task.isCancelled { throw .stopped } }

  // MARK: The steps

  /// Waits a little for files that are missing, or being written.
  private func read(
    _ goal: Goal, _ current: Snapshot, _ changes: inout [SwapReport.Change]
  ) async throws(SwapStop) -> [Reading] {
    var readings: [Reading] = []
    for (library, file) in goal.sources {
      let known = current.generation(of: library)
      let plugins = goal.configuration.plugins(of: library)
      var patience = ReadingPatience()
      while true {
        try checkpoint()
        let result = await ControlThread.run { [registry] in
          Result { () throws(PluginError) in try Reading(file, of: library, known?.hash, registry) }
        }
        do {
          guard let reading = try result.get() else { break }
          readings.append(reading)
          changes.append(
            SwapReport.Change(
              library: library, plugins: plugins, old: known?.build,
              new: SwapReport.Build(
                version: reading.facts.note?.version, hash: reading.image.hash.hex, buildID: reading.facts.buildID)))
          break
        } catch {
          guard error.mayBeBeingWritten, let pause = patience.next() else {
            changes.append(SwapReport.Change(library: library, plugins: plugins, old: known?.build))
            throw refusal(error, library, goal.configuration)
          }
          if patience.isFirst { log(LogLine(level: .info, message: "\(error); it is tried again for a moment")) }
          try? await Task.sleep(for: pause)
        }
      }
    }
    return readings
  }

  private func checkRefusals(_ readings: [Reading], _ configuration: Configuration) throws(SwapStop) {
    for image in readings.map(\.image) {
      guard let reason = registry.refusals?.reason(for: image.hash) else { continue }
      let error = PluginError(
        .knownBad, .plugin(name: nil, path: image.path),
        "this build (\(image.hash.hex.prefix(12))) is refused since it did harm: \(reason)",
        advice: "build it anew, or take it off the list of refused builds")
      throw refusal(error, image.path, configuration)
    }
  }

  private func checkBudget(_ count: Int, _ settings: SwapSettings) throws(SwapStop) {
    let used = registry.count
    guard count > 0, used + count > settings.generations else { return }
    throw .impossible(
      "\(used) builds are mapped and none is ever unloaded, \(settings.generations) may be (swap.generations); "
        + "restart the program")
  }

  private func stage(
    _ readings: [Reading], _ configuration: Configuration
  ) async throws(SwapStop) -> [GenerationRegistry.Candidate] {
    var candidates: [GenerationRegistry.Candidate] = []
    for reading in readings {
      try checkpoint()
      let names = configuration.plugins(of: reading.image.path)
      let result = await ControlThread.run { [registry] in
        Result { () throws(PluginError) in try registry.stage(reading.image, reading.facts, for: names) }
      }
      do { candidates.append(try result.get()) } catch { throw refusal(error, reading.image.path, configuration) }
    }
    return candidates
  }

  private func sayUntried(_ candidates: [GenerationRegistry.Candidate]) {
    for candidate in candidates {
      log(
        LogLine(
          level: .warning,
          message:
            "\(candidate.library) is swapped in without being tried out, since the engine has no probe; give it a"
            + " HelperProbe, and have the command sluice beside the program or on PATH"))
    }
  }

  private func examine(
    _ candidates: [GenerationRegistry.Candidate], _ configuration: Configuration
  ) async throws(SwapStop) {
    guard let probe else { return sayUntried(candidates) }
    for candidate in candidates {
      var instances: [ProbeCandidate.Instance] = []
      for plugin in configuration.plugins where plugin.library == candidate.library {
        let text = (try? plugin.config.serializedText()) ?? "{}"
        // Whether a state that cannot be had matters is for the new instance to say, which there is not yet.
        let saved = try? await published.part(plugin.name)?.instance?.saveState(within: Self.saveLimit)
        instances.append(ProbeCandidate.Instance(name: plugin.name, configuration: text, state: saved ?? nil))
      }
      try checkpoint()
      do {
        try await probe.examine(
          ProbeCandidate(
            path: candidate.library, copy: candidate.copy.path, facts: candidate.facts, instances: instances,
            deadline: Self.probeLimit))
      } catch {
        try checkpoint()
        throw refusal(error, candidate.library, configuration)
      }
    }
  }

  private func load(
    _ candidate: GenerationRegistry.Candidate, _ configuration: Configuration
  ) async throws(SwapStop) -> LoadedGeneration {
    let result = await ControlThread.run(within: Self.stepLimit) { [registry] in
      Result { () throws(PluginError) in try registry.load(candidate) }
    } late: { result in
      if case .success(let loaded) = result { loaded.record.end(.refused("it took too long to load")) }
    }
    do throws(PluginError) {
      guard let result else {
        throw PluginError(
          .loadFailed, .plugin(name: nil, path: candidate.library),
          "was not loaded within \(Self.stepLimit): a constructor or its entry point does not return")
      }
      return try result.get()
    } catch { throw refusal(error, candidate.library, configuration) }
  }

  private func make(
    _ goal: Goal, _ generations: [String: LoadedGeneration], following current: Snapshot
  ) async throws(SwapStop) -> Snapshot {
    let draft = SnapshotDraft(
      goal.configuration, generations, runtime: runtime, following: current, isSwap: goal.isSwap, log: log)
    let number = state.withLock { state in
      state.lastSnapshot += 1
      return state.lastSnapshot
    }
    let (loops, delegate) = (workers.count, delegate)
    let snapshot = try await call(draft, "create") { () throws(EngineError) in
      try draft.create()
      return try draft.snapshot(number, loops: loops, delegate: delegate)
    }
    let states = try await save(draft, current)
    try await call(draft, "load and activate") { () throws(EngineError) in
      try draft.load(states)
      try draft.activate(serving: false)
    }
    guard !Task.isCancelled else {
      await undo(draft)
      throw .stopped
    }
    return snapshot
  }

  /// Calls into new builds on a thread of its own; undoes the draft where that fails or takes too long.
  private func call<Value: Sendable>(
    _ draft: SnapshotDraft, _ what: String, _ body: @escaping @Sendable () throws(EngineError) -> Value
  ) async throws(SwapStop) -> Value {
    guard !Task.isCancelled else {
      await undo(draft)
      throw .stopped
    }
    let result = await ControlThread.run(within: Self.stepLimit) {
      Result { () throws(EngineError) in try body() }
    } late: { _ in
      draft.undo()
    }
    switch result {
    case .success(let value): return value
    case .failure(let error):
      await undo(draft)
      throw .refused(error)
    case nil: throw .impossible("\(what) of the new build did not return within \(Self.stepLimit); it was given up")
    }
  }

  private func undo(_ draft: SnapshotDraft) async { await ControlThread.run { draft.undo() } }

  /// What the instances that are to be replaced save, by name; just before the new ones load it.
  private func save(_ draft: SnapshotDraft, _ current: Snapshot) async throws(SwapStop) -> [String: SavedState] {
    var states: [String: SavedState] = [:]
    for part in draft.fresh {
      guard let new = part.instance, new.keepsState, let old = current.part(part.plugin.name)?.instance,
        old.generation.id == new.generation.id
      else { continue }
      do { states[part.plugin.name] = try await old.saveState(within: Self.saveLimit) } catch {
        guard new.isStateOptional else {
          await undo(draft)
          throw .refused(.plugin(error, part.plugin.location))
        }
        log(
          LogLine(
            level: .warning, plugin: old.generation.id, generation: old.generation.number, stage: part.plugin.name,
            message: "\(error); the new build begins without it, since its state is optional"))
      }
    }
    return states
  }

  private func refusal(_ error: PluginError, _ library: String, _ configuration: Configuration) -> SwapStop {
    let plugin = configuration.plugins.first { $0.library == library }
    return .refused(
      .plugin(plugin.map { error.named($0.name) } ?? error, plugin?.location ?? ConfigurationLocation()))
  }
}

/// A library whose content is not the one that serves.
private struct Reading: Sendable {
  let image: LibraryImage
  let facts: LibraryFacts

  /// Nil where the content is known. Throws for what this host cannot use, and for what is not whole.
  init?(
    _ file: String, of library: String, _ known: ContentHash?, _ registry: GenerationRegistry
  ) throws(PluginError) {
    image = try LibraryImage(reading: file, as: library)
    if image.hash == known { return nil }
    facts = try registry.facts(of: image)
  }
}

/// How long a file that is missing or being written is waited for: seven looks within some two seconds.
private struct ReadingPatience {
  private var tries = 0
  private static let first = Duration.milliseconds(25)

  mutating func next() -> Duration? {
    tries += 1
    return tries <= 6 ? Self.first * (1 << (tries - 1)) : nil
  }

  var isFirst: Bool { tries == 1 }
}

extension Snapshot {
  func generation(of library: String) -> GenerationRecord? {
    parts.first { $0.plugin.library == library }?.generation
  }

  /// The builds that instances can be made of, by the library's path.
  var loaded: [String: LoadedGeneration] {
    var loaded: [String: LoadedGeneration] = [:]
    for part in parts {
      guard let library = part.plugin.library, let record = part.generation, let instance = part.instance else {
        continue
      }
      loaded[library] = LoadedGeneration(record: record, plugin: instance.generation)
    }
    return loaded
  }
}

extension SwapCoordinator {
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

extension Configuration {
  /// The paths of the libraries, each once, in the order of the plugins.
  var libraries: [String] {
    plugins.compactMap(\.library).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// The keys that differ and that an engine reads only when it starts.
  func fixedDifferences(from other: Configuration) -> [String] {
    let (new, old) = (transport, other.transport)
    let differences: [(String, Bool)] = [
      ("transport.loops", new.loops != old.loops),
      ("transport.connectTimeout", new.connectTimeout != old.connectTimeout),
      ("transport.maxConnectionsPerHost", new.maxConnectionsPerHost != old.maxConnectionsPerHost),
      ("transport.httpVersion", new.httpVersion != old.httpVersion),
      ("transport.maxRequestBytes", new.maxRequestBytes != old.maxRequestBytes),
      ("transport.proxy", new.proxy != old.proxy), ("transport.tls", new.tls != old.tls),
      ("transport.decodesContent", new.decodesContent != old.decodesContent),
      ("transport.unixSocket", new.unixSocket != old.unixSocket), ("store", store != other.store),
      ("control", control != other.control),
    ]
    return differences.filter(\.1).map(\.0)
  }
}
