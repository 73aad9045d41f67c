import SluiceAssembly
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

// Builds that failed in service: adds them to the list of refused builds, and looks them up.
extension SwapCoordinator {
  func refuseBuilds(of worse: Int, besides better: Int, _ id: Int) {
    let (bad, good, reason) = state.withLock { state in
      (state.live[worse], state.live[better], state.requests[id]?.reason ?? "")
    }
    let refused = (bad?.generations ?? []).filter { good?.holds($0) == false }
    observer.withLock { $0 }?.buildsWereRefused(refused.map(\.hash.hex), because: reason)
    for record in refused {
      do { try store.refusals?.add(record.hash.hex, because: reason) } catch {
        log(
          LogLine(
            level: .warning, plugin: record.pluginID, generation: record.id, stage: record.plugins.first,
            message: "\(error)"))
      }
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
      advice: "build it again; to use it nevertheless, have the program call engine.clearRefusals(), or remove "
        + "\(refusals.path(of: hash)) and start the program again")
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

  private func sayRefused(_ library: String, _ reason: String, _ configuration: Configuration) {
    let plugin = configuration.plugins(of: library).first ?? library
    log(
      LogLine(
        level: .warning, stage: plugin,
        message: "plugin \"\(plugin)\" at \(library) is a build that was refused in a swap: \(reason)"))
  }
}
