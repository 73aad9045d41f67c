import SluiceAssembly
import SluiceLoop
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceReplay
import SluiceSupport
import SluiceTrial

// Canaries: new builds that serve a part of the new transactions.
extension SwapCoordinator {
  /// Records a canary in the store, and keeps what is needed for it.
  func beginCanary(_ snapshot: Snapshot, _ goal: CanaryGoal, beside base: Snapshot) async throws(SwapStop) {
    let settings = goal.settings
    let shadow = settings.shadow.flatMap { shadow in
      goal.replayer.map { makeShadow(shadow, $0, of: snapshot, beside: base) }
    }
    let result = await ControlThread.run { [store] in
      Result { () throws(PluginError) in
        let list = try store.canaryList()
        var records: [CanaryRecord] = []
        do throws(PluginError) {
          for new in snapshot.generations where !base.holds(new) {
            guard let old = base.generation(of: new.library),
              let record = try list.begin(
                new.library, new.hash, percent: settings.shares[0], replacing: old.hash, at: old.copy)
            else { continue }
            records.append(record)
          }
        } catch {
          for record in records { record.end(.replaced) }
          throw error
        }
        return records
      }
    }
    do throws(PluginError) {
      let records = try result.get()
      let progress = CanaryProgress(snapshot, settings, beside: base, records, shadow)
      // The canary before it was published, and its probation ends with this one.
      leaveRecords(
        of: state.update { state in
          defer { state.canary = progress }
          return state.canary
        })
    } catch { throw .impossible(error.description) }
  }

  /// Notes the share that the canary gets next, before its first transaction.
  func recordShare() {
    let (newest, progress) = state.withLock { ($0.machine.newest, $0.canary) }
    guard let progress else { return }
    let isPublished = newest.snapshot == progress.snapshot.number
    guard let percent = isPublished ? 100 : newest.canaryStep.map(progress.percent) else { return }
    for record in progress.records { record.note(percent: percent) }
  }

  /// Called when a snapshot has passed its probation.
  func endProbation(of number: Int) {
    leaveRecords(
      of: state.update { state in
        guard state.canary?.snapshot.number == number else { return nil }
        defer { state.canary = nil }
        return state.canary
      })
  }

  /// Called when the loops have taken a step of a canary, or its end.
  func settle(_ canary: Snapshot, _ settlement: SwapMachine.Settlement, beside base: Snapshot) {
    if settlement.canary != nil {
      // In a shadow, its builds do no scheduled work either.
      if share(settlement.canaryStep)?.percent != 0 { canary.serveBeside() }
      return state.withLock { $0.canary?.beginStep(beside: base) }
    }
    base.serve(after: canary)
  }

  /// Compares a canary with the snapshot that serves the other transactions. Returns false if the snapshot is no canary.
  func judge(_ snapshot: Snapshot, against base: Snapshot) -> Bool {
    let (found, step) = state.withLock { ($0.canary, $0.machine.canary?.step) }
    guard let progress = found, progress.snapshot === snapshot else { return false }
    if let shadow = progress.shadow(in: step) {
      shadow.compareWaiting { [self] verdict in
        if verdict.breach != nil { sayFindings(of: shadow) }
        handle(
          .sampled(
            snapshot: snapshot.number, breach: verdict.breach, isEnough: progress.isEnough(verdict, shadow.status),
            step: step))
      }
      return true
    }
    let counts = progress.counts(beside: base)
    guard let result = state.withLock({ $0.canary?.judge(counts) }) else { return true }
    handle(.sampled(snapshot: snapshot.number, breach: result.breach, isEnough: result.isEnough, step: step))
    return true
  }

  /// Nil without a canary.
  var canaryMetrics: CanaryMetrics? {
    let arms = state.withLock { state in
      state.machine.canary == nil ? nil : state.canary.map { ($0.snapshot.pipeline, state.published.pipeline) }
    }
    return arms.map { candidate, control in
      CanaryMetrics(candidate: candidate.counts, control: control.counts)
    }
  }

  /// The canary's share of the new transactions in a step; nil without a canary.
  func share(_ step: Int?) -> SwapReport.Canary? {
    guard let step, let progress = state.withLock({ $0.canary }) else { return nil }
    return SwapReport.Canary(snapshot: progress.snapshot.number, percent: progress.percent(step))
  }

  /// Requests a decision about the running canary, and waits for its result.
  func decide(_ kind: (Int) -> SwapQueue.Kind, because reason: String? = nil) async -> (SwapReport, EngineError?) {
    await submit(kind(state.withLock { $0.machine.canary?.snapshot ?? 0 }), reason: reason)
  }

  /// Why a request cannot be carried out; nil if it can be tried.
  func objection(to kind: SwapQueue.Kind) -> SwapStop? {
    let canary = state.withLock { $0.machine.canary?.snapshot }
    switch kind {
    case .promotion(0), .abort(0): return .impossible("no canary is running")
    // During a canary, a rollback returns to the snapshot that serves anyway.
    case .rollback: return canary == nil ? refusalOfReturn().map { .refused($0) } : nil
    default: return nil
    }
  }

  /// Ends the canary if a call of one of its builds blocks a loop.
  func endCanary(blockedBy obstacle: LoopObstacle) {
    guard let call = obstacle.call else { return }
    endCanary(because: "\(obstacle)") { $0.id == call.generation }
  }

  /// Ends the canary, once, if this is true of one of its own builds.
  func endCanary(because reason: String, if isBad: (GenerationRecord) -> Bool) {
    let canary = state.withLock { state -> Int? in
      guard let progress = state.canary, state.machine.canary != nil, !progress.isEnding,
        progress.snapshot.generations.contains(where: { !state.published.holds($0) && isBad($0) })
      else { return nil }
      state.canary?.isEnding = true
      return progress.snapshot.number
    }
    guard let canary else { return }
    Task.detached { [self] in _ = await submit(.abort(canary), reason: reason) }
  }

  /// What a swap needs for its canary. Nil if it publishes at once.
  func canaryGoal(_ choice: CanaryChoice, _ configuration: Configuration) throws(SwapStop) -> CanaryGoal? {
    guard let settings = choice.settings(in: configuration) else { return nil }
    return CanaryGoal(settings: settings, replayer: settings.shadow == nil ? nil : try replayer(configuration))
  }

  private func replayer(_ configuration: Configuration) throws(SwapStop) -> CanaryGoal.Replayer {
    guard let text = configuration.text, configuration.isReplayable(from: text) else {
      throw .impossible(
        "a shadow replays what the configuration file says, but the program has added plugins or stages to it; "
          + "leave out the shadow")
    }
    guard var replay = Replay(helper: (trial as? HelperTrial)?.helperPath) else {
      throw .impossible(
        "a shadow needs the sluice command, which is neither in the folder of this program nor on PATH")
    }
    replay.deadline = Self.replayLimit
    return (replay, text)
  }

  private func makeShadow(
    _ settings: ShadowSettings, _ replayer: CanaryGoal.Replayer, of snapshot: Snapshot, beside base: Snapshot
  ) -> ShadowRun {
    let configuration = snapshot.configuration
    let builds = [base, snapshot].map { snapshot in
      var build = Replay.Build(configuration: replayer.text, file: configuration.file, libraries: snapshot.copies)
      build.installedPlugins = configuration.installedPlugins
      build.hasCopies = true
      return build
    }
    let callOuts = workers[0].environment.callOuts
    return ShadowRun(settings, replayer.replay, old: builds[0], new: builds[1]) { callOuts?.last ?? [] }
  }

  /// The time limit for each process that replays samples.
  private static let replayLimit = Duration.seconds(60)

  private func sayFindings(of shadow: ShadowRun) {
    for line in shadow.status.findings.prefix(10) { log(LogLine(level: .warning, message: "shadow: \(line)")) }
  }

  /// Ends the shadow, if one is running, and returns the counts of its samples as text.
  func endShadow(of progress: CanaryProgress?) -> String? {
    guard let shadow = progress?.shadow, shadow.end() else { return nil }
    let status = shadow.status
    return "samples of its shadow: \(Figures.count(status.same)) same, \(Figures.count(status.different)) different, "
      + "\(Figures.count(status.notCompared)) not compared, \(Figures.count(status.dropped)) dropped"
  }

  /// The engine ends before the canary is decided. The next start loads what is at the paths of the libraries.
  func leaveCanary(_ number: Int) {
    guard let progress = state.withLock({ $0.canary }), progress.snapshot.number == number else { return }
    var report = state.withLock { state in
      state.lastRequest += 1
      return SwapReport(
        id: state.lastRequest, trigger: .canary, began: workers[0].loop.wallClock, outcome: .unfinished,
        snapshot: state.published.number)
    }
    report.changes = Self.changes(from: published, to: progress.snapshot)
    report.canary = share(state.withLock { $0.machine.canary?.step })
    for record in progress.records { record.end(.unfinished) }
    report.reason = endShadow(of: progress)
    state.withLock { $0.note(report) }
    say(report)
  }
}

/// The settings of a canary, and what replays the samples of its shadow.
struct CanaryGoal: Sendable {
  /// `text` is the text of the configuration.
  typealias Replayer = (replay: Replay, text: [UInt8])

  let settings: CanarySettings
  /// Nil without a shadow.
  let replayer: Replayer?
}

extension Configuration {
  /// Whether the libraries and the stages are those of a text. Tracers, which a replay leaves out, can differ.
  fileprivate func isReplayable(from text: [UInt8]) -> Bool {
    guard let read = try? Configuration(text: text, file: file, installedPlugins: installedPlugins) else {
      return false
    }
    let lists = [\Configuration.request, \.issue, \.response]
    return libraries == read.libraries
      && lists.allSatisfy { self[keyPath: $0].map(\.plugin) == read[keyPath: $0].map(\.plugin) }
  }
}

extension CanaryChoice {
  /// The settings of the canary with which a swap begins; nil if it publishes at once.
  func settings(in configuration: Configuration) -> CanarySettings? {
    switch self {
    case .configured: configuration.swap.canary?.effective
    case .none: nil
    case .settings(let settings): settings.effective
    }
  }
}

extension SwapCoordinator {
  /// Updates the records when a snapshot is published: a canary that is decided, or one that has ended it.
  func endRecords(of decided: CanaryProgress?, publishing new: Snapshot, after old: Snapshot, _ kind: SwapQueue.Kind?) {
    for record in decided?.records ?? [] { record.end(end(of: record, publishing: new, kind)) }
    guard let kind, !kind.isReturn, new !== old else { return }
    for build in new.generations where !old.holds(build) { store.canaries?.remove(build.library, build.hash) }
  }

  private func end(
    of record: CanaryRecord, publishing new: Snapshot, _ kind: SwapQueue.Kind?
  ) -> CanaryRecord.End {
    // Without the refusal, the next process would take the record for one whose refusal was cleared.
    if kind?.isAbort == true || kind?.isBreach == true {
      return store.refusals?.isStored(record.build) == true ? .refused : .unfinished
    }
    // A swap of other plugins leaves the old build in service.
    return new.generation(of: record.library)?.hash == record.old ? .unfinished : .replaced
  }

  /// The process ends, and can be killed before the engine has ended. That is no fault of the canary.
  func leaveRecords() { leaveRecords(of: state.withLock { $0.canary }) }

  /// A build that was published serves after the next start too, although its probation has not ended.
  private func leaveRecords(of progress: CanaryProgress?) {
    guard let progress else { return }
    for record in progress.records { record.end(published === progress.snapshot ? .replaced : .unfinished) }
  }
}
