import SluiceAssembly
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport
import SluiceTransport
import SluiceTrial

/// Replaces snapshots, one at a time, and ends the old snapshots. It performs the decisions of ``SwapMachine`` in order
/// on its own thread (SwapCoordinator+Performing).
final class SwapCoordinator: Sendable {
  let workers: [Worker]
  let hosting: PluginHosting
  let store: PluginStoreAccess
  let delegate: StageBinding?
  let trial: (any LibraryTrial)?
  let log: @Sendable (LogLine) -> Void
  let state: Monitor<SwapState>
  let watchdog: Watchdog
  let observer = Locked<(any SwapObserver)?>(nil)
  let stuckLoopObserver = Locked<(any StuckLoopObserver)?>(nil)

  /// Blocks until the first snapshot is created and started. If a step fails, the earlier steps are undone.
  init(
    _ configuration: Configuration, sources: [String: String], workers: [Worker], delegate: StageBinding?,
    trial: (any LibraryTrial)?, minimumLogLevel: LogLine.Level, log: @escaping @Sendable (LogLine) -> Void
  ) throws(EngineError) {
    self.workers = workers
    self.delegate = delegate
    self.trial = trial
    self.log = log
    let runtime = HostRuntime(
      loops: workers.map(\.environment), programName: "sluice", programVersion: Product.version,
      isShared: configuration.isShared, callOuts: configuration.callOutLimits,
      blockingCalls: configuration.limits.blockingCalls,
      credentials: Credentials.answer,
      minimumLogLevel: PluginLogEntry.Level(minimumLogLevel), log: { log(LogLine($0)) })
    hosting = PluginHosting(runtime: runtime, log: log)
    store = PluginStoreAccess(folder: configuration.store, file: configuration.file, offer: runtime.offer)
    let empty = Snapshot.empty(configuration, loops: workers.count)
    let state = Monitor(SwapState(published: empty, loops: workers.count))
    self.state = state
    watchdog = Watchdog(
      workers.map(\.loop), settings: { state.withLock { $0.published.configuration.watchdog } }, log: log)
    let goal = Goal(
      configuration: configuration, kind: .start, sources: configuration.libraries.map { ($0, sources[$0] ?? $0) })
    do throws(EngineError) { serve(try first(goal)) } catch {
      runtime.close(within: SnapshotDraft.undoLimit)
      throw error
    }
    let stuckLoops = StuckLoops(workers: workers) { state.withLock { $0.isClosed } }
    watchdog.start(response: response(stuckLoops))
  }

  /// Makes the first snapshot with the same steps as every other snapshot. Blocks.
  private func first(_ goal: Goal) throws(EngineError) -> Snapshot {
    let result: Result<Snapshot, SwapStop> = WaitingThread.run { [self] in
      var changes: [SwapReport.Change] = []
      do throws(SwapStop) { return .success(try await make(goal, &changes)) } catch { return .failure(error) }
    }
    switch result {
    case .success(let snapshot): return snapshot
    case .failure(.refused(let error)): throw error
    case .failure(let stop):
      throw .transport(TransportError(.resources, stop.words ?? "the start was given up"))
    }
  }

  private func response(_ stuckLoops: StuckLoops) -> Watchdog.Response {
    Watchdog.Response { [weak self] loop, isStuck in
      stuckLoops.mark(loop, isStuck)
      if !isStuck { self?.stuckLoopObserver.withLock { $0 }?.loopMoves(loop) }
    } relieve: { [weak self] obstacle, settings in
      stuckLoops.relieve(obstacle, settings)
      self?.leave(obstacle)
    }
  }

  /// Lets everything else that depends on a stuck loop continue elsewhere.
  private func leave(_ obstacle: LoopObstacle) {
    endCanary(blockedBy: obstacle)
    if obstacle.hasDied { handle(.died(loop: obstacle.loop)) }
    let snapshots = state.withLock { $0.live.all }
    for instance in snapshots.flatMap(\.instances) { instance.leave(workers[obstacle.loop].environment) }
    stuckLoopObserver.withLock { $0 }?.loopIsStuck(obstacle.loop)
  }

  var runtime: HostRuntime { hosting.runtime }

  /// The builds that the engine has mapped since its start.
  var mapped: GenerationBudget.Use { GenerationBudget.Use(hosting.records) }

  var published: Snapshot { state.withLock { $0.published } }

  var counts: SwapCounts { state.withLock { $0.counts } }

  var stuckLoopCount: Int { watchdog.stalls.count }

  /// The sum of the counts of all snapshots so far.
  func metrics() -> MetricsSnapshot {
    let (snapshots, retired) = state.withLock { ($0.live.all, $0.retired) }
    return MetricsSnapshot(merging: snapshots.map { $0.pipeline.counts } + [retired])
  }
}

// Requests.
extension SwapCoordinator {
  /// Requests a swap, and waits for its result. Cancelling the task cancels the swap unless it is already published.
  func submit(
    _ kind: SwapQueue.Kind, configuration: Configuration? = nil, sources: [String: String] = [:],
    canary: CanaryChoice = .configured, reason: String? = nil
  ) async -> (SwapReport, EngineError?) {
    let id = state.withLock { state in
      state.lastRequest += 1
      return state.lastRequest
    }
    return await withTaskCancellationHandler {
      await Handover.wait { answer in
        let request = SwapRequest(
          id: id, kind: kind, configuration: configuration, sources: sources, canary: canary, reason: reason,
          began: workers[0].loop.wallClock
        ) { answer.give(($0, $1)) }
        state.withLock { $0.requests[id] = request }
        if let objection = objection(to: kind) { return stop(request, [], objection) }
        handle(.requested(id, kind))
        if Task.isCancelled { handle(.cancelled(id)) }
        // The thread is started last. If the existing thread ends because it finds no work, it does so before the
        // request is added, and a new thread is started here.
        startPerforming()
      }
    } onCancel: {
      handle(.cancelled(id))
    }
  }

  /// Answers a request. A second call for the same request does nothing.
  func finish(_ id: Int, _ report: SwapReport, _ error: EngineError?) {
    let request = state.withLock { state in
      state.changes[id] = nil
      guard let request = state.requests.removeValue(forKey: id) else { return nil as SwapRequest? }
      state.note(report)
      return request
    }
    guard let request else { return }
    say(report)
    observer.withLock { $0 }?.swapEnded(report)
    request.answer(report, error)
  }

  func say(_ report: SwapReport) {
    let level: LogLine.Level =
      switch report.outcome {
      case .published: report.late.isEmpty ? .info : .warning
      case .canary, .unchanged, .superseded, .cancelled, .shutdown: .info
      case .refused, .rolledBack, .unfinished: .warning
      }
    if report.changes.isEmpty { return log(LogLine(level: level, message: report.lineWithTime, swap: report)) }
    for change in report.changes {
      let record = hosting.records.first { $0.id == (change.new ?? change.old)?.generation }
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
    CallOutLimits(timeout: transport.timeout, maximumResponseBytes: transport.maximumHeldResponseBytes)
  }
}
