import SluiceAssembly
import SluiceJSON
import SluicePluginHost
import SluiceTrial

extension TrialCandidate {
  /// Makes a candidate from a staged library and the instances that the configuration creates from it.
  /// - Parameter states: the states that the serving instances have saved, by the name of the instance.
  init(_ library: StagedLibrary, in configuration: Configuration, states: [String: OwnedState] = [:]) {
    let instances = configuration.plugins.filter { $0.library == library.path }.map { plugin in
      Instance(
        name: plugin.name, configuration: Self.text(plugin.config),
        places: configuration.places(of: plugin.name).map { Place(key: $0.key, configuration: Self.text($0.config)) },
        state: states[plugin.name]?.state, stateOwner: states[plugin.name]?.owner)
    }
    self.init(
      path: library.path, copy: library.copy.path, facts: library.facts, instances: instances,
      deadline: configuration.swap.trial)
    hash = library.copy.hash
  }

  private static func text(_ value: JSONValue) -> String { (try? value.serializedText()) ?? "{}" }
}

extension TrialCandidate {
  /// A saved state, and the id of the plugin that saved it.
  struct OwnedState: Sendable {
    let state: SavedState
    let owner: String
  }
}
