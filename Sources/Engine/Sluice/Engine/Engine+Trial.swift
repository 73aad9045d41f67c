package import SluiceAssembly
import SluicePluginFile
package import SluicePluginHost
import SluiceSupport
package import SluiceTrial

extension Engine {
  /// Tries out the libraries of a configuration as a start does, but loads none of them. Returns why libraries are
  /// refused. Blocks.
  package static func trialRefusals(
    of configuration: Configuration, trial: any LibraryTrial
  ) throws(EngineError) -> [EngineError] {
    trialRefusals(of: configuration, try stage(configuration), trial: trial)
  }

  /// Makes a private copy of each library of a configuration. Blocks.
  package static func stage(_ configuration: Configuration) throws(EngineError) -> [StagedLibrary] {
    var loader: PluginLoader?
    var staged: [StagedLibrary] = []
    for library in configuration.libraries {
      do throws(PluginError) {
        let ready = if let loader { loader } else { try PluginLoader(store: configuration.store) }
        loader = ready
        staged.append(try ready.stage(library, allowing: configuration.allowed(of: library)))
      } catch { throw EngineError(error, of: library, in: configuration) }
    }
    return staged
  }

  /// Tries out libraries of a configuration of which there are private copies. Returns why libraries are refused. Blocks.
  package static func trialRefusals(
    of configuration: Configuration, _ staged: [StagedLibrary], trial: any LibraryTrial
  ) -> [EngineError] {
    let candidates = candidates(of: configuration, staged)
    let refusals = WaitingThread.run { await trial.refusals(of: candidates) }
    // The copies of the libraries are removed with `staged`. Its use here keeps it alive until the trial has ended.
    return zip(staged, refusals).compactMap { library, refusal in
      refusal.map { EngineError($0, of: library.path, in: configuration) }
    }
  }

  /// The libraries and their instances, as a trial examines them.
  package static func candidates(of configuration: Configuration, _ staged: [StagedLibrary]) -> [TrialCandidate] {
    var configuration = configuration
    // The libraries are tried out even if the configuration disables trials, because the caller asks for a trial.
    if configuration.swap.trial <= .zero { configuration.swap.trial = SwapSettings().trial }
    return staged.map { TrialCandidate($0, in: configuration) }
  }
}

extension Engine {
  /// The lists that plugins are not in, although the plugins have callbacks that only these lists have.
  package var missingLists: [MissingList] {
    let published = swaps.published
    return MissingList.all(
      in: published.configuration, published.parts.map { (name: $0.plugin.name, stage: $0.stage) })
  }
}

extension Engine {
  /// Warnings about the plugins that keep a state, if swaps begin a canary; one sentence each.
  package var canaryWarnings: [String] {
    let published = swaps.published
    guard published.configuration.swap.canary?.effective != nil else { return [] }
    return published.parts.filter { $0.instance?.keepsState == true }.map { part in
      "plugin \(PlainText.quote(part.plugin.name)) \(CanarySettings.stateWarning)"
    }
  }
}
