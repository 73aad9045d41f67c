public import SluiceAssembly
public import Sluice
package import SluiceJSON
package import SluiceMessages
import SluicePluginFile
import SluicePluginHost
import SluiceSupport
public import SluiceUpdateRules

// The work of an updater for its engine.
extension Updater: EngineUpdater {
  // MARK: Before the start

  /// Makes the folder ready for an engine: leaves a release that failed, installs the first release or a waiting
  /// release, and switches off plugins whose builds must not serve. Blocks while a trial runs.
  ///
  /// - Returns: the configuration to start the engine with.
  /// - Throws: if a plugin has no build, and none can be installed.
  public func prepare() async throws(UpdateError) -> Configuration { try await prepare(isFollowed: true) }

  /// - Parameter isFollowed: whether ``follow(_:)`` is called afterwards. If it is not called, the updater does not
  ///   learn how the engine ends, so no release is on probation in this process.
  package func prepare(isFollowed: Bool) async throws(UpdateError) -> Configuration {
    try await useWhatIsStaged()
    if try isIncomplete() {
      let result = await check(.immediate)
      if let error = result.error, try isIncomplete() {
        guard try await useFallback() else { throw error }
      }
    }
    let session = try await UpdateSession.begin(self)
    defer { session.end() }
    guard ids.allSatisfy({ Self.hasBuild($0, session.state, folder) }) else {
      throw UpdateError(
        .refused, "channel \"\(settings.channel)\"",
        session.state.held.map { "release \($0.release) is not installed: \($0.reason)" } ?? "no release is installed",
        advice: "\"sluice update status\" says more")
    }
    if isFollowed, session.state.probation?.release == session.state.installed,
      session.state.probation?.owner == nil
    {
      session.state.probation?.owner = .current
      try session.save()
    }
    let reasons = session.disablingReasons()
    for (name, reason) in reasons.sorted(by: { $0.key < $1.key }) {
      log(LogLine(level: .warning, stage: name, message: "update: \(reason)"))
    }
    return configuration.disabling(reasons)
  }

  /// - Returns: whether an older release has every build.
  private func useFallback() async throws(UpdateError) -> Bool {
    let session = try await UpdateSession.begin(self)
    defer { session.end() }
    guard let good = session.fallback() else { return false }
    try session.activate(good, isReturn: true, message: "the release that was installed lacks a build")
    return true
  }

  /// Leaves an installed release that must not serve, and installs a release that waits.
  private func useWhatIsStaged() async throws(UpdateError) {
    let session = try await UpdateSession.begin(self)
    defer { session.end() }
    // If the release lacks builds that this configuration needs, they are downloaded later.
    if let installed = session.state.installed, !session.mayServe(installed), let good = session.fallback() {
      try session.activate(
        good, isReturn: true, message: "a build of the installed release is revoked, refused, missing or damaged")
    }
    guard let accepted = session.state.accepted, session.isAccepted(accepted),
      let release = try? folder.release(accepted.version, hash: accepted.hash),
      session.needs(release), session.isStaged(release), (try? session.rules.checkExpiry(release)) != nil,
      (try? session.rules.checkClock(session.state.floors)) != nil
    else { return }
    do throws(UpdateError) {
      try tryOut(session, release.version)
      try session.activate(release.version, isReturn: false, owner: nil, message: "it was waiting for this start")
    } catch { note(UpdateEvent(kind: .failed, release: release.version, message: "\(error)")) }
  }

  /// Whether a plugin has no build to load.
  private func isIncomplete() throws(UpdateError) -> Bool {
    guard let state = try folder.state() else { return true }
    return !ids.allSatisfy { Self.hasBuild($0, state, folder) }
  }

  private static func hasBuild(_ id: String, _ state: UpdateState, _ folder: UpdateFolder) -> Bool {
    state.installed.map { folder.hasWholeBuild(id, of: $0) } ?? false
  }

  // MARK: With an engine

  /// Keeps an engine current from now on. Looks for releases by the schedule and on the notification `ota_update`, and
  /// reacts to decisions of the engine, such as a rollback. Call it once, with an engine of the configuration that
  /// ``prepare()`` returned. Ends with the engine.
  public func follow(_ engine: Engine) {
    let state = (try? folder.state()) ?? nil
    if let state { adjustRefusals(state, engine) }
    let isDisabled = engine.currentConfiguration.plugins.contains { $0.releaseID != nil && $0.library == nil }
    service.withLock { service in
      service.engine = engine
      service.beforeDisabling = isDisabled ? configuration : nil
    }
    engine.setUpdater(self)
    let task: Task<Void, Never> = Task.detached { [weak self] in
      guard let self else { return }
      // The engine starts with other builds if the canary of the installed release was not decided.
      try? await follow(installed: engine)
      if let probation = state?.probation, probation.owner == .current { passLater(probation.release) }
      await runSchedule()
    }
    service.withLock { $0.schedule = task }
  }

  /// Makes a release pass its probation after a time, because there is no older snapshot to compare it with.
  func passLater(_ release: Int64) {
    let duration = configuration.swap.probation?.duration ?? .zero
    let task: Task<Void, Never> = Task.detached { [weak self] in
      try? await Task.sleep(for: duration)
      await self?.waitForLoops()
      guard !Task.isCancelled, let self, let engine = service.withLock({ $0.engine }) else { return }
      // During a canary of the release, the engine also serves the builds before it, and later reports the canary's end.
      // The end of its probation is reported too.
      let status = await engine.status
      guard !isBehind(release, status), status.probation == nil, let session = try? await UpdateSession.begin(self)
      else { return }
      defer { session.end() }
      guard session.state.installed == release, session.state.probation?.owner == .current else { return }
      try? session.pass(release)
    }
    service.withLock { service in
      service.passing?.cancel()
      service.passing = service.isEnding ? nil : task
      if service.isEnding { task.cancel() }
    }
  }

  /// Waits until all loops answer. A loop that does not answer might be crashing, and a release must not pass while its
  /// crash record is written.
  private func waitForLoops() async {
    while let engine = service.withLock({ $0.isEnding ? nil : $0.engine }), !Task.isCancelled {
      guard await !engine.status.silentLoops.isEmpty else { return }
      try? await Task.sleep(for: .seconds(1))
    }
  }

  private func runSchedule() async {
    guard let every = settings.every else { return }
    while !Task.isCancelled {
      _ = await check()
      // The interval varies, so that engines that were started together do not always look at the same time.
      try? await Task.sleep(for: every * Double.random(in: 0.9...1.1))
    }
  }

  package func update(_ payload: JSONValue) async -> WorkOutcome {
    let version = payload["version"]?.integer
    let immediate = payload["immediate"]?.bool
    let knowsVersion = payload["version"].map { $0.isNull || version.map { $0 > 0 } ?? false } ?? true
    let knowsTiming = payload["immediate"].map { $0.isNull || immediate != nil } ?? true
    guard payload.isObject, knowsVersion, knowsTiming else {
      note(
        UpdateEvent(
          kind: .failed,
          message:
            "a notification \"\(Engine.updateTopic)\" expects {\"version\": INTEGER, \"immediate\": true or false}"))
      return .failed
    }
    let timing: Timing = immediate.map { $0 ? .immediate : .later } ?? .configured
    return await check(timing, minimum: version).outcome
  }

  package func engineWillEnd() async {
    let (tasks, notes) = service.withLock { service in
      service.isEnding = true
      return ([service.schedule, service.passing].compactMap(\.self), service.notes)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    await notes?.value
    await leaveProbation()
    service.withLock { $0.engine = nil }
  }

  /// Leaves the probation without a decision. Call it when the process ends in order, or when its engine did not start
  /// for a reason other than the builds. The next process then begins the probation again.
  package func leaveProbation() async {
    guard let session = try? await UpdateSession.begin(self) else { return }
    defer { session.end() }
    guard let probation = session.state.probation, probation.owner == .current else { return }
    session.state.probation?.owner = nil
    guard (try? session.save()) != nil else { return }
    note(
      UpdateEvent(
        kind: .left, release: probation.release, message: "this process ends; the next one begins the probation again"))
  }

  package func endIsNear() async { await leaveProbation() }

  // MARK: What the engine reports

  package func swapEnded(_ report: SwapReport) {
    // If the engine rolls back or ends a canary by itself, it has called `buildsWereRefused` before.
    if report.trigger == .rollback, report.outcome == .published {
      later { updater in await updater.noteReturnByOperator() }
    }
    if report.endedCanary != nil || report.trigger == .canary && report.outcome == .published {
      later { updater in await updater.noteEndOfCanary() }
    }
  }

  package func buildsWereRefused(_ hashes: [String], because reason: String) {
    later { updater in await updater.noteBreach(Set(hashes), reason) }
  }

  package func probationWasPassed(snapshot: Int) {
    later { updater in
      await updater.waitForLoops()
      guard let session = try? await UpdateSession.begin(updater) else { return }
      defer { session.end() }
      guard let probation = session.state.probation, probation.release == session.state.installed,
        probation.owner == .current
      else { return }
      try? session.pass(probation.release)
    }
  }

  /// Called when the engine has ended a canary. If the engine has no probation now, nothing else will report that the
  /// installed release has passed.
  private func noteEndOfCanary() async {
    guard let engine = service.withLock({ $0.engine }) else { return }
    let status = await engine.status
    guard status.probation == nil, status.canary == nil, let session = try? await UpdateSession.begin(self)
    else { return }
    defer { session.end() }
    guard let probation = session.state.probation, probation.release == session.state.installed,
      probation.owner == .current
    else { return }
    if configuration.swap.probation == nil {
      try? session.pass(probation.release)
    } else {
      passLater(probation.release)
    }
  }

  /// Runs the work after the work of all earlier reports has ended.
  private func later(_ work: @escaping @Sendable (Updater) async -> Void) {
    service.withLock { service in
      guard !service.isEnding else { return }
      let before = service.notes
      service.notes = Task.detached { [weak self] in
        await before?.value
        if let self { await work(self) }
      }
    }
  }

  private func noteBreach(_ hashes: Set<String>, _ reason: String) async {
    guard let session = try? await UpdateSession.begin(self) else { return }
    defer { session.end() }
    guard let installed = session.state.installed,
      ids.contains(where: { folder.buildHash($0, of: installed).map(hashes.contains) ?? false })
    else { return }
    let previous = session.state.probation?.previous ?? session.state.good.last { $0 != installed }
    do throws(UpdateError) {
      try session.giveUp(installed, previous, because: "it failed in service: \(reason)", refusing: hashes)
      session.end()
      // The engine has returned to the previous snapshot, whose builds might have been revoked in the meantime.
      let engine = service.withLock { $0.engine }
      _ = try await withdraw(engine)
      try await follow(installed: engine)
    } catch { note(UpdateEvent(kind: .failed, release: installed, message: "\(error)")) }
  }

  private func noteReturnByOperator() async {
    guard let engine = service.withLock({ $0.engine }) else { return }
    let status = await engine.status
    guard let session = try? await UpdateSession.begin(self) else { return }
    defer { session.end() }
    guard let installed = session.state.installed else { return }
    let serving = plugins.compactMap { plugin in
      plugin.releaseID.flatMap { id in status.serving(plugin.name).map { (id, $0.hash) } }
    }
    guard serving.contains(where: { folder.buildHash($0.0, of: installed) != $0.1 }) else { return }
    // `folder.releases` also has releases that were replaced before the end of their probation.
    let release = folder.releases.first { release in
      release != installed && serving.allSatisfy { folder.buildHash($0.0, of: release) == $0.1 }
    }
    session.state.held = UpdateState.Held(release: installed, reason: "a command has returned to the release before it")
    session.state.probation = nil
    session.state.installed = release ?? installed
    do throws(UpdateError) {
      try session.save()
      note(
        UpdateEvent(
          kind: .held, release: installed,
          message:
            "a command has returned to \(release.map { "release \($0)" } ?? "other builds"); release \(installed) is "
            + "not installed again automatically"))
      session.end()
      // The builds of that release might have been revoked in the meantime.
      _ = try await withdraw(engine)
    } catch { note(UpdateEvent(kind: .failed, release: installed, message: "\(error)")) }
  }

  // MARK: Status

  package var statusDocument: JSONValue { get async { status() } }

  /// The status: the installed release, the refused builds and the newest events. docs/updates.md describes its
  /// members.
  package func status() -> JSONValue {
    let document: JSONValue = [
      "url": JSONValue("\(settings.url)"), "channel": JSONValue(settings.channel), "folder": JSONValue(folder.path),
    ]
    do throws(UpdateError) {
      if let state = try folder.state() {
        state.describe(in: document)
        document["accepted"] = state.accepted.map { JSONValue($0.version) }
        document["good"] = .array(of: state.good.map { JSONValue($0) })
        document["revoked"] = .array(of: state.revoked.sorted())
        document["root"] = state.floors.root.map { JSONValue($0.version) }
        let disabled = JSONValue.object()
        for plugin in plugins {
          guard let id = plugin.releaseID, let installed = state.installed,
            let hash = folder.buildHash(id, of: installed), let objection = state.objection(to: hash)
          else { continue }
          disabled[plugin.name] = JSONValue("build \(hash.prefix(12)): \(objection)")
        }
        if disabled.count > 0 { document["disabled"] = disabled }
      }
    } catch { document["error"] = JSONValue("\(error)") }
    document["history"] = .array(of: history.newest(20))
    return document
  }
}
