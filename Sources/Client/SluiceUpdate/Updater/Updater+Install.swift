import SluiceAssembly
import Sluice
import SluiceMessages
import SluicePluginFile
import SluicePluginHost
import SluiceSupport
import SluiceTrial
import SluiceUpdateRules

// One check for a release: refreshes the documents, downloads and activates a release, and withdraws revoked builds.
extension Updater {
  private enum Step {
    case unchanged(String)
    case available(Int64)
    case staged(Int64)
    case activated(Int64, previous: Int64?)
  }

  func checkOnce(_ timing: Timing, retriesHeld: Bool) async throws(UpdateError) -> UpdateResult {
    let engine = service.withLock { $0.engine }
    var result = UpdateResult(action: .none, message: "")
    do throws(UpdateError) {
      switch try await find(timing, retriesHeld: retriesHeld, engine) {
      case .unchanged(let message): result.message = message
      case .available(let release):
        result.action = .available
        result.message = "release \(release) is available; to install it: sluice update apply"
      case .staged(let release):
        result.action = .staged
        result.message =
          "release \(release) is verified and downloaded; it is installed at the next start, or by \"sluice update apply\""
      case .activated(let release, let previous):
        try await serve(release, previous, engine)
        (result.action, result.message) = (.installed, "release \(release) is installed")
      }
    } catch { (result.action, result.message, result.error) = (.failed, "\(error)", error) }
    guard timing != .never else { return result }
    // This is done whether or not a release was found: revoked builds must not serve, and the engine must load a
    // release that another process has installed.
    if let words = try await withdraw(engine) { (result.action, result.message) = (.withdrawn, words) }
    try await follow(installed: engine)
    return result
  }

  /// Refreshes the documents, downloads the builds, and decides what to do.
  private func find(
    _ timing: Timing, retriesHeld: Bool, _ engine: Engine?
  ) async throws(UpdateError) -> Step {
    // If several processes want to fetch, the others wait for this lock and then find the builds on disk.
    let fetching = try await FolderLock.take(folder.fetchLockPath, within: limits.build)
    defer { fetching.release() }
    let session = try await UpdateSession.begin(self)
    // The engine loads without the lock, so that others need not wait for a trial.
    defer { session.end() }
    let (release, isNeeded, isStaged, isChanged) = try await Mirror.with(settings.url, configuration, limits) {
      mirror throws(UpdateError) -> (ReleaseDocument, Bool, Bool, Bool) in
      let release = try await session.refresh(mirror)
      if retriesHeld { try session.forgive(release) }
      let isNeeded = session.needs(release)
      guard isNeeded, timing != .never else { return (release, isNeeded, false, false) }
      let wasStaged = session.isStaged(release)
      let isChanged = try await session.stage(release, mirror)
      return (release, true, !wasStaged, isChanged)
    }
    // After a change of keys, the installed release can have been published again with other builds.
    let isReplaced = isChanged && session.state.installed == release.version
    // Another process can have installed the release during the download, so `needs` is asked again.
    guard isNeeded, timing == .never || isReplaced || session.needs(release) else {
      return .unchanged(session.wordsForNothing(release))
    }
    guard timing != .never else {
      _ = try session.targets(of: release)
      return .available(release.version)
    }
    let mustLeave =
      isReplaced || session.state.installed != nil && !session.unusable(in: session.state.installed).isEmpty
    let status = await engine?.status
    let hasCanary = status.map { $0.canary != nil && !servesForbidden($0) } ?? false
    let isImmediate =
      switch timing {
      case .immediate: !hasCanary || mustLeave
      case .later, .never: false
      case .configured: settings.immediate && !hasCanary || mustLeave
      }
    guard isImmediate else {
      guard isStaged else {
        let event = hasCanary ? "the end of the engine's canary" : "the next start"
        return .unchanged("release \(release.version) waits for \(event)")
      }
      session.note(.staged, release.version, "its builds are verified and on disk")
      return .staged(release.version)
    }
    return try activate(session, release, engine)
  }

  private func activate(
    _ session: UpdateSession, _ release: ReleaseDocument, _ engine: Engine?
  ) throws(UpdateError) -> Step {
    if engine == nil { try tryOut(session, release.version) }
    let previous = session.state.installed
    try session.activate(
      release.version, isReturn: false, owner: engine == nil ? nil : .current,
      message: engine == nil
        ? previous.map { "it takes the place of release \($0) at the next start" } ?? "it is the first release" : nil)
    session.folder.prune(session.state)
    return .activated(release.version, previous: session.state.probation?.previous)
  }

  /// Tries the builds of a release out in a child process. Only an updater without an engine does this, because an
  /// engine tries builds out itself.
  func tryOut(_ session: UpdateSession, _ release: Int64) throws(UpdateError) {
    guard let trial else { return }
    var candidate = configuration
    for index in candidate.plugins.indices {
      guard let id = candidate.plugins[index].releaseID else { continue }
      candidate.plugins[index].source = .library(path: "\(folder.releaseFolder(release))/\(id).so")
    }
    let reason: EngineError?
    do { reason = try Engine.trialRefusals(of: candidate, trial: trial).first } catch { reason = error }
    guard let reason else { return }
    try refuse(session, release, session.state.installed, reason)
    throw UpdateError(.refused, "release \(release)", "\(reason)")
  }

  /// Notes that a release was refused before it served. If its builds are at fault, they are refused from then on.
  private func refuse(
    _ session: UpdateSession, _ release: Int64, _ previous: Int64?, _ reason: EngineError
  ) throws(UpdateError) {
    guard let error = reason.underlying as? PluginError, error.isRefusal, error.code != .trialUnavailable else {
      return
    }
    var ids = ids
    if case .plugin(_, let path?) = error.subject {
      let named = ids.filter { path.hasSuffix("/\($0).so") }
      if !named.isEmpty { ids = named }
    }
    let hashes = Set(ids.compactMap { folder.buildHash($0, of: release) })
    try session.giveUp(release, previous, because: "\(reason)", refusing: hashes)
  }

  /// Makes the engine load a release that was activated. Without an engine, the release serves from the next start.
  private func serve(_ release: Int64, _ previous: Int64?, _ engine: Engine?) async throws(UpdateError) {
    guard let engine else { return }
    if let state = try folder.state() { adjustRefusals(state, engine) }
    let answer = await load(engine, canary: .configured)
    let status = await engine.status
    let session = try await UpdateSession.begin(self)
    defer { session.end() }
    guard session.state.installed == release else { return }
    switch answer {
    case nil:
      let step = status.canary == nil ? "" : ", and begins as a canary"
      session.note(
        .installed, release, previous.map { "it takes the place of release \($0)\(step)" } ?? "it is the first release")
      // How a canary ends is reported by the engine.
      guard status.canary == nil else { return }
      // The release passes at once if the configuration has no probation, or if the release has the same builds as the
      // one before.
      let isSame = previous.map { previous in
        ids.allSatisfy { folder.buildHash($0, of: release) == folder.buildHash($0, of: previous) }
      }
      if configuration.swap.probation == nil || isSame == true {
        try session.pass(release)
      } else if status.probation == nil {
        // The engine has no previous snapshot to return to, so the release passes when it has served long enough.
        passLater(release)
      }
    case let error?:
      if let cause = error.underlying, (cause.underlying as? PluginError)?.isRefusal == true {
        try refuse(session, release, previous, cause)
      }
      if session.state.installed == release {
        session.state.installed = previous
        session.state.probation = nil
        try session.save()
      }
      throw UpdateError(
        .refused, "release \(release)", "\(error.report)", advice: "the previous builds continue to serve")
    }
  }

  /// Makes the engine load the release that `current` names. Returns nil if the engine then serves it.
  /// - Parameter canary: whether the release first gets a part of the traffic. If the engine runs a canary, the release
  ///   ends it and is published at once.
  private func load(_ engine: Engine, canary: CanaryChoice) async -> SwapError? {
    let before = service.withLock { service in
      defer { service.beforeDisabling = nil }
      return service.beforeDisabling
    }
    do throws(SwapError) {
      if let before {
        _ = try await engine.reload(before)
      } else {
        // A swap with a canary would wait for the end of the running one. Beside a canary, a build that must not serve
        // would go on.
        let status = await engine.status
        let choice = status.canary == nil && !servesForbidden(status) ? canary : .none
        _ = try await engine.swap(plugins: self.plugins.map(\.name), sources: [:], canary: choice)
      }
      return nil
    } catch {
      if let before { service.withLock { $0.beforeDisabling = before } }
      return error
    }
  }

  /// Stops the use of revoked builds: installs an older release that can serve, or switches their plugins off if there
  /// is none.
  /// - Returns: what was done; nil if nothing had to be done.
  func withdraw(_ engine: Engine?) async throws(UpdateError) -> String? {
    let session = try await UpdateSession.begin(self)
    defer { session.end() }
    if let engine { adjustRefusals(session.state, engine) }
    guard let installed = session.state.installed else { return nil }
    guard !session.unusable(in: installed).isEmpty else {
      session.end()
      // The installed release is a canary beside a build that was revoked.
      guard let engine, await servesForbidden(engine.status), let error = await load(engine, canary: .none) else {
        return nil
      }
      throw UpdateError(
        .refused, "release \(installed)", "it does not take the place of a revoked build: \(error.report)")
    }
    let reasons = session.disablingReasons()
    if let good = session.fallback() {
      let words = "release \(good) serves again, since a build of release \(installed) must not serve any more"
      try session.activate(good, isReturn: true, message: words)
      session.end()
      guard let engine, let error = await load(engine, canary: .none) else { return words }
      note(UpdateEvent(kind: .failed, release: good, message: "\(error.report)"))
    }
    session.end()
    guard let engine, !reasons.isEmpty, service.withLock({ $0.beforeDisabling == nil }) else { return nil }
    let before = engine.currentConfiguration
    do { _ = try await engine.reload(before.disabling(reasons)) } catch {
      throw UpdateError(.refused, "release \(installed)", "its plugins cannot be switched off: \(error.report)")
    }
    service.withLock { $0.beforeDisabling = before }
    let words = reasons.sorted { $0.key < $1.key }.map(\.value).joined(separator: "; ")
    note(UpdateEvent(kind: .revoked, release: installed, message: words))
    return words
  }

  /// Makes the engine refuse the builds that must not serve, no matter what would load them, and no longer refuse
  /// builds that may serve again.
  func adjustRefusals(_ state: UpdateState, _ engine: Engine) {
    let objections = Set(state.refused.keys).union(state.revoked)
    let known = service.withLock { service in
      defer { service.forbidden = objections }
      return service.forbidden
    }
    // The error is ignored: if the list of refused builds cannot be written, the engine keeps it in memory.
    for hash in objections.subtracting(known) {
      try? engine.refuse(hash: hash, because: state.objection(to: hash) ?? "")
    }
    // This does not affect builds that the program itself has refused.
    for hash in known.subtracting(objections) { try? engine.clearRefusals(hash: hash) }
  }

  /// Whether the engine serves a build that was revoked or refused.
  private func servesForbidden(_ status: EngineStatus) -> Bool {
    guard let state = (try? folder.state()) ?? nil else { return false }
    return plugins.contains { plugin in
      plugin.releaseID != nil && status.serving(plugin.name).map { state.objection(to: $0.hash) != nil } ?? false
    }
  }

  /// Whether the engine serves other builds than those of a release.
  func isBehind(_ release: Int64, _ status: EngineStatus) -> Bool {
    plugins.contains { plugin in
      guard let id = plugin.releaseID, let hash = folder.buildHash(id, of: release) else { return false }
      return status.serving(plugin.name).map { $0.hash != hash } ?? false
    }
  }

  /// Loads a release that another process has installed in the meantime.
  func follow(installed engine: Engine?) async throws(UpdateError) {
    guard let engine, let state = try folder.state(), let installed = state.installed,
      state.held?.release != installed
    else { return }
    let hashes = ids.map { folder.buildHash($0, of: installed) }
    let isUsable = hashes.allSatisfy { hash in hash.map { state.objection(to: $0) == nil } ?? false }
    let status = await engine.status
    // The canary can be this release. Another release waits for its end.
    guard status.canary == nil else { return }
    let isDisabled = service.withLock { $0.beforeDisabling != nil }
    guard isDisabled ? isUsable : isBehind(installed, status) else { return }
    // A command without an engine has installed the release, so the release is on probation in this process.
    if state.probation?.release == installed, state.probation?.owner == nil {
      let session = try await UpdateSession.begin(self)
      defer { session.end() }
      if session.state.probation?.release == installed, session.state.probation?.owner == nil {
        session.state.probation?.owner = .current
        try session.save()
      }
    }
    adjustRefusals(state, engine)
    if let error = await load(engine, canary: .configured) {
      throw UpdateError(.refused, "release \(installed)", "another process has installed it; here: \(error.report)")
    }
  }
}

extension UpdateSession {
  /// Whether a release should be installed.
  func needs(_ release: ReleaseDocument) -> Bool {
    guard state.held?.release != release.version else { return false }
    return state.installed != release.version || !unusable(in: release.version).isEmpty || !isStaged(release)
  }

  /// Lets a release be installed again although it is held or its builds are refused.
  func forgive(_ release: ReleaseDocument) throws(UpdateError) {
    if state.held?.release == release.version { state.held = nil }
    for target in release.targets { state.refused[target.sha256] = nil }
    try save()
  }

  func pass(_ release: Int64) throws(UpdateError) {
    state.addGood(release)
    if state.probation?.release == release { state.probation = nil }
    try save()
    note(.passed, release, "it has passed its probation")
  }

  func wordsForNothing(_ release: ReleaseDocument) -> String {
    if let held = state.held, held.release == release.version {
      return "release \(held.release) is not installed: \(held.reason)"
    }
    return "release \(release.version) is the newest, and is installed"
  }
}
