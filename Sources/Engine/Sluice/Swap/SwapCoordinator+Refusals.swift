import SluiceAssembly
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

// Builds that failed in service: adds them to the list of refused builds, and looks them up. At a start, finds the build
// to use instead of one whose canary was not decided.
extension SwapCoordinator {
  func refuseBuilds(of worse: Int, besides better: Int, _ id: Int) {
    let (bad, good, reason) = state.withLock { state in
      (state.live[worse], state.live[better], state.requests[id]?.reason ?? "")
    }
    let refused = (bad?.generations ?? []).filter { good?.holds($0) == false }
    observer.withLock { $0 }?.buildsWereRefused(refused.map(\.hash.hex), because: reason)
    for record in refused {
      refuse(record.hash, because: reason, record.plugins.first, plugin: record.pluginID, generation: record.id)
    }
  }

  private func refuse(
    _ build: ContentHash, because reason: String, _ stage: String?, plugin: String? = nil, generation: Int? = nil
  ) {
    do { try store.refusals?.add(build.hex, because: reason) } catch {
      log(LogLine(level: .warning, plugin: plugin, generation: generation, stage: stage, message: "\(error)"))
    }
  }

  func checkRefusals(_ builds: [(library: String, hash: ContentHash)], _ goal: Goal) throws(SwapStop) {
    for build in builds {
      guard let refusals = store.refusals, let reason = refusals.reason(for: build.hash) else { continue }
      if goal.kind == .start {
        sayRefused(build.library, reason, goal.configuration)
        continue
      }
      throw refusal(Self.knownBad(build.library, build.hash, reason, refusals), build.library, goal.configuration)
    }
  }

  private static func knownBad(
    _ library: String, _ hash: ContentHash, _ reason: String, _ refusals: RefusalList
  ) -> PluginError {
    PluginError(
      .knownBad, .plugin(name: nil, path: library),
      "this build (\(hash.hex.prefix(12))) is refused because it failed in service: \(reason)",
      advice: "change it and build it again; to use it nevertheless, remove \(refusals.path(of: hash))")
  }

  /// Why the previous snapshot must not serve again: one of its builds was refused in the meantime. Nil if it can
  /// serve.
  func refusalOfReturn() -> EngineError? {
    let (current, point) = state.withLock { ($0.published, $0.restorePoint) }
    guard let point, let refusals = store.refusals else { return nil }
    for (library, build) in point.builds.sorted(by: { $0.key < $1.key })
    where current.generation(of: library)?.hash != build.hash {
      guard let reason = refusals.reason(for: build.hash) else { continue }
      return EngineError(
        Self.knownBad(library, build.hash, reason, refusals), of: library, in: point.configuration)
    }
    return nil
  }

  /// At a start, the build that serves instead of one whose canary was not decided, or failed: the one that it was to
  /// replace. Returns nil if the build at the path of the library serves. Blocks.
  func replacement(
    of reading: LibraryReading, _ library: String, _ configuration: Configuration
  ) -> LibraryReading? {
    guard let canaries = store.canaries, let refusals = store.refusals else { return nil }
    let (build, plugin) = (reading.image.hash, configuration.plugins(of: library).first ?? library)
    for other in canaries.removeOthers(of: library, build) {
      refuse(other.build, because: Self.crash(at: other.percent), plugin)
    }
    guard let finding = canaries.finding(of: library, build) else { return nil }
    if finding.state == .crashed {
      refuse(build, because: Self.crash(at: finding.percent), plugin)
      // Otherwise the next start finds the crash again.
      if refusals.isStored(build) { canaries.refuse(library, build) }
    }
    let reason = refusals.reason(for: build)
    // Somebody has cleared the refusal.
    if finding.state == .refused, reason == nil {
      canaries.remove(library, build)
      return nil
    }
    let state =
      switch finding.state {
      case .crashed, .refused: "is refused: \(reason ?? Self.crash(at: finding.percent))"
      case .running: "is a canary of another process, which is not decided"
      case .unfinished: "is a canary that was not decided when its engine ended; a swap begins it again"
      }
    let words = "plugin \"\(plugin)\": the build at \(library) (\(build.hex.prefix(12))) \(state)"
    do throws(PluginError) {
      if let reason = refusals.reason(for: finding.old) {
        throw PluginError(.knownBad, .plugin(name: nil, path: finding.copy), "is refused too: \(reason)")
      }
      let allowed = configuration.allowed(of: library)
      guard let old = try LibraryReading(finding.copy, of: library, nil, store, allowed), old.image.hash == finding.old
      else {
        throw PluginError(.store, .plugin(name: nil, path: finding.copy), "is not the build that was recorded")
      }
      let served = "build \(finding.old.hex.prefix(12)) from before its canary serves (record: \(finding.record))"
      log(LogLine(level: .warning, stage: plugin, message: "\(words); \(served)"))
      return old
    } catch {
      log(
        LogLine(
          level: .warning, stage: plugin,
          message: "\(words); it serves nevertheless, because the build from before cannot be used: \(error)"))
      return nil
    }
  }

  private static func crash(at percent: Double) -> String {
    switch percent {
    case 0: "its process ended during its shadow"
    case 100: "its process ended during the probation after its canary"
    default: "its process ended during its canary, at \(Figures.percent(percent)) % of the new transactions"
    }
  }

  private func sayRefused(_ library: String, _ reason: String, _ configuration: Configuration) {
    let plugin = configuration.plugins(of: library).first ?? library
    log(
      LogLine(
        level: .warning, stage: plugin,
        message: "plugin \"\(plugin)\" at \(library) is a build that was refused in a swap: \(reason)"))
  }
}
