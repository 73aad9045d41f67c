import SluiceAssembly
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

// Performs the machine's decisions in order on one thread. This thread never waits for a loop or a plugin.
extension SwapCoordinator {
  /// Gives an event to the machine. The thread performs the resulting actions. Can be called on any thread.
  func handle(_ event: SwapMachine.Event) {
    state.update { state in state.actions += state.machine.handle(event, at: MonotonicClock.now) }
  }

  /// Starts the thread that performs actions, unless it exists. It is started with the first request, and ends when the
  /// engine has ended and every request is answered.
  func startPerforming() {
    let isFirst = state.withLock { state in
      defer { state.hasPerformer = true }
      return !state.hasPerformer
    }
    guard isFirst, !SystemThread.start("sluice-swap", { [self] in performAll() }) else { return }
    // If no thread can be started, uses a thread of the task pool instead.
    Task.detached { [self] in performAll() }
  }

  private func performAll() {
    while let actions = nextActions() {
      for action in actions { perform(action) }
    }
  }

  /// Waits for actions. Returns nil when the thread must end.
  private func nextActions() -> [SwapMachine.Action]? {
    state.update { $0.isPerforming = false }
    while true {
      let deadline = state.withLock { $0.machine.deadline }
      let limit = deadline.map { max($0 - MonotonicClock.now, .zero) } ?? .seconds(3600)
      let next: Next? = state.wait(upTo: limit) { state in
        if !state.actions.isEmpty {
          defer { (state.actions, state.isPerforming) = ([], true) }
          return .perform(state.actions)
        }
        // The thread does not end before the running request is answered.
        if state.isOver, state.machine.running == nil {
          state.hasPerformer = false
          return .end
        }
        return state.machine.deadline == deadline ? nil : .waitAgain
      }
      switch next {
      case .perform(let actions): return actions
      case .end: return nil
      case .waitAgain: continue
      case nil: handle(.passed)
      }
    }
  }

  private enum Next {
    case perform([SwapMachine.Action])
    case waitAgain
    case end
  }

  private func perform(_ action: SwapMachine.Action) {
    switch action {
    case .prepare(let id): prepare(id)
    case .giveUp: state.withLock { $0.steps }?.cancel()
    case .answer(let id, let refusal): answer(id, refusal)
    case .refuseBuilds(let worse, let better, let id): refuseBuilds(of: worse, besides: better, id)
    case .hand(let loops): hand(to: loops)
    case .published(let settlement): settle(settlement)
    case .sample(let new, let old): sample(new, old)
    case .request(let kind, let reason): Task.detached { [self] in _ = await submit(kind, reason: reason) }
    case .leaveCanary(let number): leaveCanary(number)
    case .stoodProbation(let number):
      endProbation(of: number)
      log(LogLine(level: .info, message: "snapshot \(number) has passed its probation"))
      observer.withLock { $0 }?.probationWasPassed(snapshot: number)
    case .watchLeases(let number, let loops): watchLeases(number, loops)
    case .expire(let number, let loops): expire(number, loops)
    case .countCompletions(let number): countCompletions(number)
    case .end(let number, let reason): end(number, reason)
    case .leak(let number): leak(number)
    }
  }

  /// Runs the steps of a request as a task, because most steps wait for a thread that calls into a new build.
  private func prepare(_ id: Int) {
    guard let request = state.withLock({ $0.requests[id] }) else { return handle(.stopped(id)) }
    let task = Task.detached { [self] in
      var changes: [SwapReport.Change] = []
      do throws(SwapStop) {
        let snapshot = try await steps(of: request, &changes)
        state.withLock { state in
          state.changes[id] = changes
          state.live.adopt(snapshot)
        }
        handle(.made(id, snapshot: snapshot.number, terms(of: snapshot)))
      } catch { stop(request, changes, error) }
    }
    state.withLock { $0.steps = task }
    // The engine might have been closed before the task was stored. In this case, the task must be cancelled here.
    if state.withLock({ $0.isClosed }) { task.cancel() }
  }

  /// During a probation, the engine can return to the snapshot that serves now. If a build of that snapshot was refused
  /// in the meantime, a rollback is not possible, so there is no probation.
  private func terms(of snapshot: Snapshot) -> SwapMachine.Terms {
    var terms = snapshot.configuration.swap.terms
    terms.canary = state.withLock { $0.canary?.snapshot === snapshot ? $0.canary?.settings.terms : nil }
    guard terms.probation != nil, let refusals = store.refusals else { return terms }
    let refused = published.generations.first { record in
      !snapshot.holds(record) && refusals.reason(for: record.hash) != nil
    }
    guard let refused else { return terms }
    terms.probation = nil
    log(
      LogLine(
        level: .info, plugin: refused.pluginID, generation: refused.id, stage: refused.plugins.first,
        message:
          "snapshot \(snapshot.number) gets no probation: build \(refused.hash.hex.prefix(12)), to which a rollback "
          + "would return, is refused"))
    return terms
  }

  func stop(_ request: SwapRequest, _ changes: [SwapReport.Change], _ stop: SwapStop) {
    handle(.stopped(request.id))
    var (report, failure) = (report(request, .refused, changes), nil as EngineError?)
    report.reason = stop.words ?? request.reason
    switch stop {
    case .unchanged: report.outcome = .unchanged
    case .stopped: report.outcome = state.withLock { $0.isClosed } ? .shutdown : .cancelled
    case .impossible: break
    case .refused(let error): failure = error
    }
    finish(request.id, report, failure)
  }

  private func report(
    _ request: SwapRequest, _ outcome: SwapReport.Outcome, _ changes: [SwapReport.Change] = []
  ) -> SwapReport {
    var report = request.report(outcome, snapshot: published.number)
    report.changes = changes
    report.reason = request.reason
    return report
  }

  /// Answers a request that needed no work.
  private func answer(_ id: Int, _ refusal: SwapMachine.Refusal) {
    guard let request = state.withLock({ $0.requests[id] }) else { return }
    let outcome: SwapReport.Outcome =
      switch refusal {
      case .superseded: .superseded
      case .cancelled: .cancelled
      case .shutdown: .shutdown
      case .tooManyRetired: .refused
      }
    var report = report(request, outcome)
    if case .tooManyRetired(let count) = refusal { report.reason = tooMany(count) }
    finish(id, report, nil)
  }

  private func tooMany(_ count: Int) -> String {
    let waits = waits().map { "\($0.obstacle)" }.joined(separator: "; ")
    return "\(count) replaced snapshots have not ended, and the limit is \(SwapMachine.retiredLimit): wait until "
      + "their transactions end (\"sluice ctl status\" lists them), or restart the program"
      + (waits.isEmpty ? "" : "; \(waits)")
  }
}
