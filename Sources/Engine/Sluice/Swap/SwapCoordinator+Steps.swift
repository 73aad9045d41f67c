import SluiceAssembly
import SluiceJSON
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceSupport
import SluiceTransport
import SluiceTrial

// The steps of every snapshot, including the first, up to its publication.
//
//     read and hash ─ refused before? ─ budget ─ preflight, private copy ─ trial ─ map, enter ─ create ─ pipeline
//       ─ save on the old, load on the new ─ activate ─ publish
//
// If a step before `publish` fails, the earlier steps are undone, and the current builds continue to serve. The start
// of an engine does not wait for files, and accepts a build that was refused in a swap, but logs a warning.
extension SwapCoordinator {
  /// The time limit for each step that calls into a new build.
  static let stepLimit = Duration.seconds(30)
  /// A step that takes longer is logged while it runs.
  static let noticeDelay = Duration.seconds(2)
  /// The time limit for saving a state, including the wait for earlier calls.
  static let saveLimit = Duration.seconds(5)

  func make(_ goal: Goal, _ changes: inout [SwapReport.Change]) async throws(SwapStop) -> Snapshot {
    let current = published
    let candidates = try await prepare(goal, current, &changes)
    for change in changes {
      for warning in change.namedWarnings {
        log(LogLine(level: .warning, stage: change.plugins.first, message: "plugin \(warning)"))
      }
    }
    var generations = current.loaded
    var fresh: [GenerationRecord] = []
    let used = mapped
    defer { warnOfBudget(used, goal.configuration.swap) }
    do throws(SwapStop) {
      for candidate in candidates {
        try checkpoint()
        let loaded = try await load(candidate, goal.configuration)
        generations[candidate.path] = loaded
        fresh.append(loaded.record)
      }
      changes = changes.map { change in
        var change = change
        change.new = fresh.first { $0.library == change.library }?.build ?? change.new
        return change
      }
      let snapshot = try await make(goal, generations, following: current)
      if goal.canary != nil { warnOfStates(of: snapshot, &changes) }
      return snapshot
    } catch {
      for record in fresh { record.end(.refused(error.words ?? "the swap was given up")) }
      throw error
    }
  }

  private func warnOfStates(of canary: Snapshot, _ changes: inout [SwapReport.Change]) {
    for index in changes.indices
    where changes[index].plugins.contains(where: { canary.part($0)?.instance?.keepsState == true }) {
      changes[index].warnings.append(CanarySettings.stateWarning)
      let plugin = changes[index].plugins.first
      log(
        LogLine(
          level: .warning, stage: plugin, message: "plugin \"\(plugin ?? "")\" \(CanarySettings.stateWarning)"))
    }
  }

  /// Performs all steps before the process loads code of a new build. If a build is refused and its file might have
  /// been incomplete, begins again from the first step.
  private func prepare(
    _ goal: Goal, _ current: Snapshot, _ changes: inout [SwapReport.Change]
  ) async throws(SwapStop) -> [StagedLibrary] {
    var patience = goal.patience
    while true {
      changes = []
      let changed = try await read(goal, current, &changes)
      if goal.kind == .swap, changed.isEmpty { throw .unchanged }
      try checkRefusals(changed.map { ($0.image.path, $0.image.hash) }, goal)
      if goal.kind != .start { try checkBudget(changed, goal.configuration.swap) }
      let candidates = try await stage(changed, goal.configuration)
      do {
        try await examine(candidates, goal)
        return candidates
      } catch {
        guard let pause = patience.next(),
          await ControlThread.run({ changed.contains(where: \.hasChangedSince) })
        else { throw error }
        if patience.isFirst {
          log(LogLine(level: .info, message: "\(error.words ?? ""); trying again for about two seconds"))
        }
        try? await Task.sleep(for: pause)
      }
    }
  }

  private func checkpoint() throws(SwapStop) { if Task.isCancelled { throw .stopped } }

  // MARK: The steps

  /// How many libraries are read, or copied, at the same time.
  private static let filesAtOnce = 4

  /// Reads the libraries. Waits a short time for files that are missing or being written.
  private func read(
    _ goal: Goal, _ current: Snapshot, _ changes: inout [SwapReport.Change]
  ) async throws(SwapStop) -> [LibraryReading] {
    let results = await goal.sources.mapConcurrently(atMost: Self.filesAtOnce) { [self] library, source in
      await read(library, from: source, goal, current.generation(of: library))
    }
    var readings: [LibraryReading] = []
    for ((library, _), result) in zip(goal.sources, results) {
      let plugins = goal.configuration.plugins(of: library)
      var change = SwapReport.Change(library: library, plugins: plugins, old: current.generation(of: library)?.build)
      do throws(SwapStop) {
        guard let reading = try result.get() else { continue }
        readings.append(reading)
        change.new = SwapReport.Build(
          version: reading.facts.note?.version, hash: reading.image.hash.hex, buildID: reading.facts.buildID)
        change.warnings = reading.facts.swapWarnings
        changes.append(change)
      } catch {
        if case .refused = error { changes.append(change) }
        throw error
      }
    }
    return readings
  }

  /// Returns nil if the content is that of the generation that serves.
  private func read(
    _ library: String, from source: String, _ goal: Goal, _ known: GenerationRecord?
  ) async -> Result<LibraryReading?, SwapStop> {
    var file = source
    var patience = goal.patience
    while true {
      if Task.isCancelled { return .failure(.stopped) }
      let result = await ControlThread.run { [self, file] in
        Result { () throws(PluginError) in
          let allowed = goal.configuration.allowed(of: library)
          let reading = try LibraryReading(file, of: library, known?.hash, store, allowed)
          guard goal.kind == .start, file == library, let reading else { return reading }
          return replacement(of: reading, library, goal.configuration) ?? reading
        }
      }
      do throws(PluginError) { return .success(try result.get()) } catch {
        // If the file is a private copy, there is no second attempt, because a private copy never changes.
        let isCopy = goal.kind == .reload && file != library
        guard !isCopy, LibraryReading.mayPass(error, library), let pause = patience.next() else {
          let error = isCopy ? Self.useless(file, of: library, error) : error
          return .failure(refusal(error, library, goal.configuration))
        }
        if patience.isFirst { log(LogLine(level: .info, message: "\(error); trying again for about two seconds")) }
        file = library
        try? await Task.sleep(for: pause)
      }
    }
  }

  /// The error that is reported if a build that has already served cannot be loaded again from its private copy.
  private static func useless(_ copy: String, of library: String, _ error: PluginError) -> PluginError {
    PluginError(
      .store, .plugin(name: nil, path: library),
      "cannot be loaded again from \(copy), its private copy in the plugin store: \(error.reason)",
      advice: "put that build at its own path and swap; do not change the store while an engine runs")
  }

  private func checkBudget(_ readings: [LibraryReading], _ settings: SwapSettings) throws(SwapStop) {
    let more = GenerationBudget.Use(
      count: readings.count, bytes: readings.reduce(0) { $0 + $1.facts.mappedBytes })
    if let refusal = GenerationBudget(settings).refusal(of: more, after: mapped) { throw .impossible(refusal) }
  }

  private func warnOfBudget(_ earlier: GenerationBudget.Use, _ settings: SwapSettings) {
    guard let warning = GenerationBudget(settings).warning(from: earlier, to: mapped) else { return }
    log(LogLine(level: .warning, message: warning))
  }

  private func stage(
    _ readings: [LibraryReading], _ configuration: Configuration
  ) async throws(SwapStop) -> [StagedLibrary] {
    try checkpoint()
    let results = await readings.mapConcurrently(atMost: Self.filesAtOnce) { [store] reading in
      await ControlThread.run {
        Result { () throws(PluginError) in try store.loader().stage(reading.image, reading.facts) }
      }
    }
    var candidates: [StagedLibrary] = []
    for (reading, result) in zip(readings, results) {
      do { candidates.append(try result.get()) } catch { throw refusal(error, reading.image.path, configuration) }
    }
    return candidates
  }

  private func sayUntried(_ candidates: [StagedLibrary]) {
    for candidate in candidates {
      log(
        LogLine(
          level: .warning,
          message:
            "\(candidate.path) is swapped in without a trial, because the engine has none; give the engine a"
            + " HelperTrial, and install the command sluice beside the program or on PATH"))
    }
  }

  private func examine(_ libraries: [StagedLibrary], _ goal: Goal) async throws(SwapStop) {
    let configuration = goal.configuration
    guard var trial else {
      if goal.kind != .start { sayUntried(libraries) }
      return
    }
    if goal.kind == .start, let helper = trial as? HelperTrial, let verdicts = store.verdicts {
      trial = helper.remembering(in: verdicts)
    }
    guard configuration.swap.trial > .zero else { return }
    var candidates: [TrialCandidate] = []
    for library in libraries {
      let states = await states(for: configuration.plugins(of: library.path))
      candidates.append(TrialCandidate(library, in: configuration, states: states))
    }
    try checkpoint()
    let refusals = await notingDelay { [candidates] in
      let names = candidates.flatMap(\.instances).map(\.name)
      return LogLine(
        level: .warning, stage: names.count == 1 ? names[0] : nil,
        message: "the trial of \(names.map { "\"\($0)\"" }.joined(separator: ", ")) has not ended after "
          + "\(Self.noticeDelay); its limit is \(configuration.swap.trial)")
    } during: { [trial] in
      await trial.refusals(of: candidates)
    }
    try checkpoint()
    for (library, error) in zip(libraries, refusals) {
      if let error { throw refusal(error, library.path, configuration) }
    }
  }

  /// The states that the serving instances with these names save. If an instance saves no state, this is no error here,
  /// because only the new instance can decide whether it needs a state.
  private func states(for plugins: [String]) async -> [String: TrialCandidate.OwnedState] {
    var states: [String: TrialCandidate.OwnedState] = [:]
    for plugin in plugins {
      guard let old = published.part(plugin)?.instance, let saved = try? await old.saveState(within: Self.saveLimit)
      else { continue }
      states[plugin] = TrialCandidate.OwnedState(state: saved, owner: old.generation.id)
    }
    return states
  }

  private func load(
    _ candidate: StagedLibrary, _ configuration: Configuration
  ) async throws(SwapStop) -> LoadedGeneration {
    let plugins = configuration.plugins(of: candidate.path)
    let result = await ControlThread.run(within: Self.stepLimit) { [hosting] in
      Result { () throws(PluginError) in
        try hosting.enter(try candidate.load(), of: candidate.path, for: plugins)
      }
    } late: { [self] result in
      if case .success(let loaded) = result { loaded.record.end(.refused("it took too long to load")) }
      handle(.caughtUp)
    }
    do throws(PluginError) {
      guard let result else {
        handle(.leftBehind)
        throw PluginError(
          .loadFailed, .plugin(name: nil, path: candidate.path),
          "was not loaded within \(Self.stepLimit): a constructor or its entry point does not return")
      }
      return try result.get()
    } catch { throw refusal(error, candidate.path, configuration) }
  }

  private func make(
    _ goal: Goal, _ generations: [String: LoadedGeneration], following current: Snapshot
  ) async throws(SwapStop) -> Snapshot {
    if goal.kind != .swap {
      for warning in goal.configuration.warnings { log(LogLine(level: .warning, message: warning)) }
    }
    let draft = hosting.draft(goal.configuration, generations, following: current, isSwap: goal.kind == .swap)
    let number = state.withLock { state in
      state.lastSnapshot += 1
      return state.lastSnapshot
    }
    let (loops, delegate) = (workers.count, delegate)
    let responder = CredentialResponder(goal.configuration.credentialPolicy)
    let snapshot = try await call(draft, "create") { () throws(EngineError) in
      try draft.create()
      return try draft.snapshot(number, loops: loops, delegate: delegate, challengeResponder: responder)
    }
    let states = try await save(draft)
    try await call(draft, "load and activate") { () throws(EngineError) in
      try draft.load(states)
      try draft.activate()
    }
    guard !Task.isCancelled else {
      await undo(draft)
      throw .stopped
    }
    // A canary with the same builds can have failed in the meantime.
    let fresh = snapshot.generations.filter { !current.holds($0) }
    do throws(SwapStop) {
      if goal.kind != .start { try checkRefusals(fresh.map { ($0.library, $0.hash) }, goal) }
      if let canary = goal.canary { try await beginCanary(snapshot, canary, beside: current) }
    } catch {
      await undo(draft)
      throw error
    }
    return snapshot
  }

  /// Calls into new builds on a separate thread. Undoes the draft if a call fails or takes too long.
  private func call<Value: Sendable>(
    _ draft: SnapshotDraft, _ what: String, _ body: @escaping @Sendable () throws(EngineError) -> Value
  ) async throws(SwapStop) -> Value {
    guard !Task.isCancelled else {
      await undo(draft)
      throw .stopped
    }
    let result = await notingDelay {
      draft.callUnderWay.map { call in
        LogLine(
          level: .warning, stage: call.plugin.name,
          message: "\"\(call.plugin.name)\" has not returned from \(call.function.rawValue) after \(Self.noticeDelay); "
            + "its limit is \(Self.stepLimit)")
      }
    } during: {
      await ControlThread.run(within: Self.stepLimit) {
        Result { () throws(EngineError) in try body() }
      } late: { [self] _ in
        draft.undo()
        handle(.caughtUp)
      }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error):
      await undo(draft)
      throw .refused(error)
    case nil:
      handle(.leftBehind)
      if let call = draft.callUnderWay { throw .refused(call.overdue(after: Self.stepLimit)) }
      throw .impossible(
        "\(what) of all new instances together took longer than \(Self.stepLimit)")
    }
  }

  /// Logs a line if the body has not returned after ``noticeDelay``.
  ///
  /// A thread waits, not a task. A task that sleeps wakes a thread of Dispatch, which ends the process with a signal if
  /// a plugin closes its descriptors at that moment; then nothing would name the plugin.
  /// - Parameter line: called then. Nil if no call of a plugin is running.
  private func notingDelay<Value: Sendable>(
    _ line: @escaping @Sendable () -> LogLine?, during body: () async -> Value
  ) async -> Value {
    let isOver = Monitor(false)
    _ = SystemThread.start("sluice-notice") { [log] in
      guard isOver.wait(upTo: Self.noticeDelay, { $0 ? true : nil }) == nil, let line = line() else { return }
      log(line)
    }
    defer { isOver.update { $0 = true } }
    return await body()
  }

  private func undo(_ draft: SnapshotDraft) async {
    let isUndone: Void? = await ControlThread.run(within: Self.stepLimit) {
      draft.undo()
    } late: { [self] in
      handle(.caughtUp)
    }
    guard isUndone == nil else { return }
    handle(.leftBehind)
    let names = draft.fresh.map { "\"\($0.plugin.name)\"" }.joined(separator: ", ")
    log(
      LogLine(
        level: .error,
        message: "new instances of \(names): deactivate or destroy has not returned within \(Self.stepLimit); "
          + "they are left behind"))
  }

  /// The states of the instances that will be replaced, by name. They are saved directly before the new instances load
  /// them.
  private func save(_ draft: SnapshotDraft) async throws(SwapStop) -> [String: SavedState] {
    var states: [String: SavedState] = [:]
    for handover in draft.handovers {
      do throws(PluginError) {
        states[handover.plugin.name] = try await handover.old.saveState(within: Self.saveLimit)
      } catch {
        do throws(EngineError) { try draft.goOn(without: handover, error) } catch {
          await undo(draft)
          throw .refused(error)
        }
      }
    }
    return states
  }

  func refusal(_ error: PluginError, _ library: String, _ configuration: Configuration) -> SwapStop {
    .refused(EngineError(error, of: library, in: configuration))
  }
}
