import SluiceLocks
import SluiceMetrics
import SluicePipeline
import SluicePluginHost
import SluiceTransport

/// Exchanges snapshots, one after the other, and ends those that are over.
///
///     request ─► queue ─► steps, see SwapCoordinator+Steps ─► publish ─► probation ─► drain ─► park
///                                   └ fails: undone, what serves goes on     └ breach: publish the one before
final class SwapCoordinator: Sendable {
  let workers: [Worker]
  let runtime: HostRuntime
  let registry: GenerationRegistry
  let delegate: StageBinding?
  let probe: (any SwapProbe)?
  let log: @Sendable (LogLine) -> Void
  let state: Monitor<SwapState>
  let watchdog: Watchdog

  /// Makes and starts the first snapshot; blocks. What was started is undone when something fails.
  init(
    _ configuration: Configuration, sources: [String: String], workers: [Worker], delegate: StageBinding?,
    probe: (any SwapProbe)?, log: @escaping @Sendable (LogLine) -> Void
  ) throws(EngineError) {
    self.workers = workers
    self.delegate = delegate
    self.probe = probe
    self.log = log
    let runtime = HostRuntime(
      loops: workers.map(\.environment), programName: "sluice", programVersion: Engine.version,
      callOuts: configuration.callOutLimits, log: { log(LogLine($0)) })
    self.runtime = runtime
    registry = GenerationRegistry(store: configuration.store, file: configuration.file, runtime: runtime)
    let snapshot: Snapshot
    do throws(EngineError) {
      snapshot = try Self.first(configuration, sources, registry, runtime, workers.count, delegate, probe, log)
    } catch {
      runtime.close(within: SnapshotDraft.undoLimit)
      throw error
    }
    let state = Monitor(SwapState(published: snapshot))
    self.state = state
    watchdog = Watchdog(
      workers.map(\.loop), limit: { state.withLock { $0.published.configuration.stallLimit } }, log: log)
    watchdog.start()
    for worker in workers { worker.loop.post { worker.pipeline = snapshot.pipeline } }
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
    do throws(EngineError) {
      try draft.create()
      let snapshot = try draft.snapshot(1, loops: loops, delegate: delegate)
      try draft.activate(serving: true)
      return snapshot
    } catch {
      draft.undo()
      throw error
    }
  }

  var published: Snapshot { state.withLock { $0.published } }

  /// What was counted so far, on all snapshots.
  func metrics() -> MetricsSnapshot {
    let (snapshots, retired) = state.withLock { ($0.snapshots, $0.retired) }
    let counted = snapshots.flatMap { $0.pipeline.metrics.map { $0.snapshot() } }
    return MetricsSnapshot(merging: counted + [retired])
  }
}

// The queue.
extension SwapCoordinator {
  /// Asks for a swap, and waits for what becomes of it. Cancelling the task takes it back until it is published.
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
        enqueue(request, isCancelled: Task.isCancelled)
      }
    } onCancel: {
      cancel(id)
    }
  }

  private func enqueue(_ request: SwapRequest, isCancelled: Bool) {
    let answered: [(SwapRequest, SwapReport.Outcome)] = state.withLock { state in
      if state.isClosed { return [(request, .shutdown)] }
      if isCancelled { return [(request, .cancelled)] }
      state.requests[request.id] = request
      let superseded = state.queue.add(SwapQueue.Entry(id: request.id, kind: request.kind))
      return superseded.compactMap { state.requests.removeValue(forKey: $0.id) }.map { ($0, .superseded) }
    }
    for (request, outcome) in answered { end(request, outcome) }
    pump()
  }

  private func cancel(_ id: Int) {
    let (waiting, running): (SwapRequest?, Task<Void, Never>?) = state.withLock { state in
      if state.queue.remove(id) { return (state.requests.removeValue(forKey: id), nil) }
      return (nil, state.running?.id == id ? state.running?.task : nil)
    }
    running?.cancel()
    if let waiting { end(waiting, .cancelled) }
  }

  /// Answers a request that never ran.
  private func end(_ request: SwapRequest, _ outcome: SwapReport.Outcome) {
    let report = state.withLock { state in
      let report = request.report(outcome, snapshot: state.published.number)
      state.note(report)
      return report
    }
    request.answer(report, nil)
  }

  /// Begins the next one where none is under way.
  private func pump() {
    state.withLock { state in
      guard state.running == nil, let entry = state.queue.next(), let request = state.requests[entry.id] else { return }
      // It needs the lock before it does anything.
      let task = Task { [self] in
        let (report, error) = await run(request)
        finish(request, report, error)
      }
      state.running = SwapState.Running(id: request.id, task: task)
    }
  }

  private func finish(_ request: SwapRequest, _ report: SwapReport, _ error: EngineError?) {
    state.update { state in
      state.running = nil
      state.requests[request.id] = nil
      state.note(report)
    }
    say(report)
    request.answer(report, error)
    pump()
  }

  private func say(_ report: SwapReport) {
    let level: LogLine.Level =
      switch report.outcome {
      case .published, .unchanged, .superseded, .cancelled, .shutdown: .info
      case .refused, .rolledBack: .warning
      }
    let took = "\(report) after \(report.duration.milliseconds) ms"
    if report.changes.isEmpty { return log(LogLine(level: level, message: took, swap: report)) }
    for change in report.changes {
      let record = registry.records.first { $0.id == (change.new ?? change.old)?.generation }
      log(
        LogLine(
          level: level, plugin: record?.pluginID, generation: record?.id, stage: change.plugins.first, message: took,
          swap: report))
    }
  }
}

// The end.
extension SwapCoordinator {
  /// Takes no more swaps, and waits for the one under way to stop, at most so long.
  func close(within limit: Duration) async {
    let (waiting, running, watch) = state.update { state in
      state.isClosed = true
      let waiting = state.queue.removeAll().compactMap { state.requests.removeValue(forKey: $0.id) }
      return (waiting, state.running?.task, state.standby?.watch)
    }
    running?.cancel()
    watch?.cancel()
    for request in waiting { end(request, .shutdown) }
    guard running != nil else { return }
    await ControlThread.run { [state] in _ = state.wait(upTo: limit) { $0.running == nil ? true : nil } }
  }

  /// Delivers what is queued, deactivates and destroys in reverse. The transactions must be over, and swaps too. Blocks.
  func end(within limit: Duration) {
    _ = state.wait(upTo: limit) { $0.ending == 0 && $0.arriving == nil ? true : nil }
    let parts = state.withLock { $0.snapshots }.reversed().flatMap(\.parts)
    var ended: [SnapshotPart] = []
    for part in parts where part.instance != nil && !ended.contains(where: { $0.instance === part.instance }) {
      ended.append(part)
    }
    for part in ended { part.queuedTracer?.stop(within: limit) }
    runtime.close(within: limit)
    for part in ended.reversed() { part.instance?.destroy(within: limit) }
    state.update { state in
      // The published one is kept, for what is asked of an engine that has ended.
      for snapshot in state.snapshots.dropFirst() { state.keepCounts(of: snapshot) }
      (state.standby, state.draining, state.leaked) = (nil, [], [])
    }
  }
}

extension Configuration {
  var callOutLimits: CallOutLimits {
    CallOutLimits(timeout: transport.timeout, maximumResponseBytes: transport.maxResponseBytes)
  }

  /// The names of the instances of one library.
  package func plugins(of library: String) -> [String] { plugins.filter { $0.library == library }.map(\.name) }
}

extension Duration {
  var milliseconds: Int { Int(self / .milliseconds(1)) }
}
