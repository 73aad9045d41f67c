import SluiceLoop
import SluiceMetrics
import SluicePipeline
import SluicePluginHost
import SluicePluginImage
import SluiceSupport
import SluiceTrial

/// Exchanges snapshots, one at a time, and ends replaced ones: performs the decisions of ``SwapMachine`` in order, on
/// its own thread (SwapCoordinator+Performing).
final class SwapCoordinator: Sendable {
  let workers: [Worker]
  let runtime: HostRuntime
  let registry: GenerationRegistry
  let delegate: StageBinding?
  let probe: (any SwapProbe)?
  let log: @Sendable (LogLine) -> Void
  let state: Monitor<SwapState>
  let watchdog: Watchdog

  /// Creates and starts the first snapshot; blocks. If a step fails, the earlier steps are undone.
  init(
    _ configuration: Configuration, sources: [String: String], workers: [Worker], delegate: StageBinding?,
    probe: (any SwapProbe)?, leastLogLevel: LogLine.Level, log: @escaping @Sendable (LogLine) -> Void
  ) throws(EngineError) {
    self.workers = workers
    self.delegate = delegate
    self.probe = probe
    self.log = log
    let runtime = HostRuntime(
      loops: workers.map(\.environment), programName: "sluice", programVersion: Engine.version,
      callOuts: configuration.callOutLimits, blockingCalls: configuration.limits.blockingCalls,
      credentials: Credentials.answer,
      leastLogLevel: PluginLogEntry.Level(leastLogLevel), log: { log(LogLine($0)) })
    self.runtime = runtime
    registry = GenerationRegistry(store: configuration.store, file: configuration.file, runtime: runtime)
    let snapshot: Snapshot
    do throws(EngineError) {
      snapshot = try Self.first(configuration, sources, registry, runtime, workers.count, delegate, probe, log)
    } catch {
      runtime.close(within: SnapshotDraft.undoLimit)
      throw error
    }
    let state = Monitor(SwapState(published: snapshot, loops: workers.count))
    self.state = state
    let stuckLoops = StuckLoops(workers: workers) { state.withLock { $0.isClosed } }
    let later = Locked<(@Sendable (Int) -> Void)?>(nil)
    watchdog = Watchdog(
      workers.map(\.loop), settings: { state.withLock { $0.published.configuration.watchdog } },
      response: Self.response(stuckLoops) { loop in later.withLock { $0 }?(loop) }, log: log)
    later.withLock { $0 = { [weak self] loop in self?.handle(.died(loop: loop)) } }
    watchdog.start()
    for worker in workers { worker.loop.post { worker.pipeline = snapshot.pipeline } }
  }

  /// - Parameter died: called repeatedly for each loop whose thread has ended.
  private static func response(
    _ stuckLoops: StuckLoops, died: @escaping @Sendable (Int) -> Void
  ) -> Watchdog.Response {
    Watchdog.Response(mark: { stuckLoops.mark($0, $1) }) { obstacle, settings in
      if obstacle.hasDied { died(obstacle.loop) }
      stuckLoops.relieve(obstacle, settings)
    }
  }

  private static func first(
    _ configuration: Configuration, _ sources: [String: String], _ registry: GenerationRegistry,
    _ runtime: HostRuntime, _ loops: Int, _ delegate: StageBinding?, _ probe: (any SwapProbe)?,
    _ log: @escaping @Sendable (LogLine) -> Void
  ) throws(EngineError) -> Snapshot {
    var trial = FirstTrial(configuration, probe)
    for plugin in configuration.plugins {
      guard let path = plugin.library, !trial.has(path) else { continue }
      do throws(PluginError) {
        let image = try LibraryImage(reading: sources[path] ?? path, as: path)
        let facts = try registry.facts(of: image, allowing: configuration.allowed(of: path))
        let candidate = try registry.stage(image, facts, for: configuration.plugins(of: path))
        trial.add(candidate, for: plugin)
        if let reason = try registry.refusalList().reason(for: image.hash) {
          log(
            LogLine(
              level: .warning, stage: plugin.name,
              message: "plugin \"\(plugin.name)\" at \(path) is a build that was refused in a swap: \(reason)"))
        }
      } catch { throw .plugin(error.named(plugin.name), plugin.location) }
    }
    let generations = try trial.load(into: registry)
    let draft = SnapshotDraft(configuration, generations, runtime: runtime, log: log)
    return try firstCalls(draft) { () throws(EngineError) in
      try draft.create()
      let snapshot = try draft.snapshot(1, loops: loops, delegate: delegate)
      try draft.activate(serving: true)
      return snapshot
    }
  }

  /// Calls into the first builds on a separate thread; undoes the draft if a call fails, and stops waiting if a call
  /// does not return in time.
  private static func firstCalls(
    _ draft: SnapshotDraft, _ body: @escaping @Sendable () throws(EngineError) -> Snapshot
  ) throws(EngineError) -> Snapshot {
    struct Outcome {
      var result: Result<Snapshot, EngineError>?
      var isGivenUp = false
    }
    let outcome = Monitor(Outcome())
    let call: @Sendable () -> Void = {
      let result = Result { () throws(EngineError) in try body() }
      if case .failure = result { draft.undo() }
      let isLate = outcome.update { outcome in
        outcome.result = result
        return outcome.isGivenUp
      }
      if isLate, case .success = result { draft.undo() }
    }
    if !SystemThread.start("sluice-control", call) { call() }
    let result = outcome.wait(upTo: stepLimit) { $0.result }
    guard
      let result = result
        ?? outcome.update({ outcome in
          outcome.isGivenUp = true
          return outcome.result
        })
    else {
      throw draft.callUnderWay?.overdue(after: stepLimit)
        ?? .transport(
          TransportError(.resources, "the start of all instances took longer than \(stepLimit)"))
    }
    return try result.get()
  }

  var published: Snapshot { state.withLock { $0.published } }

  /// The counts so far, of all snapshots.
  func metrics() -> MetricsSnapshot {
    let (snapshots, retired) = state.withLock { ($0.snapshots, $0.retired) }
    let counted = snapshots.flatMap { $0.pipeline.metrics.map { $0.snapshot() } }
    return MetricsSnapshot(merging: counted + [retired])
  }
}

// Requests.
extension SwapCoordinator {
  /// Asks for a swap, and waits for its result. Cancelling the task cancels the swap, until it is published.
  func submit(
    _ kind: SwapQueue.Kind, configuration: Configuration? = nil, reason: String? = nil
  ) async -> (SwapReport, EngineError?) {
    let id = state.withLock { state in
      state.lastRequest += 1
      return state.lastRequest
    }
    return await withTaskCancellationHandler {
      await Handover.wait { answer in
        let request = SwapRequest(
          id: id, kind: kind, configuration: configuration, reason: reason, began: workers[0].loop.wallClock
        ) { answer.give(($0, $1)) }
        state.withLock { $0.requests[id] = request }
        handle(.requested(id, kind))
        if Task.isCancelled { handle(.cancelled(id)) }
        // Set last, so that a thread without work ends before a request is added, not after.
        startPerforming()
      }
    } onCancel: {
      handle(.cancelled(id))
    }
  }

  /// Answers a request, once.
  func finish(_ id: Int, _ report: SwapReport, _ error: EngineError?) {
    let request = state.withLock { state in
      state.changes[id] = nil
      guard let request = state.requests.removeValue(forKey: id) else { return nil as SwapRequest? }
      state.note(report)
      return request
    }
    guard let request else { return }
    say(report)
    request.answer(report, error)
  }

  private func say(_ report: SwapReport) {
    let level: LogLine.Level =
      switch report.outcome {
      case .published: report.late.isEmpty ? .info : .warning
      case .unchanged, .superseded, .cancelled, .shutdown: .info
      case .refused, .rolledBack: .warning
      }
    if report.changes.isEmpty { return log(LogLine(level: level, message: report.lineWithTime, swap: report)) }
    for change in report.changes {
      let record = registry.records.first { $0.id == (change.new ?? change.old)?.generation }
      log(
        LogLine(
          level: level, plugin: record?.pluginID, generation: record?.id, stage: change.plugins.first,
          message: report.lineWithTime,
          swap: report))
    }
  }
}

extension Configuration {
  var callOutLimits: CallOutLimits {
    CallOutLimits(timeout: transport.timeout, maximumResponseBytes: transport.maxHeldResponseBytes)
  }

  /// The names of the instances of one library.
  package func plugins(of library: String) -> [String] { plugins.filter { $0.library == library }.map(\.name) }
}

extension Duration {
  var milliseconds: Int { Int(self / .milliseconds(1)) }
}
