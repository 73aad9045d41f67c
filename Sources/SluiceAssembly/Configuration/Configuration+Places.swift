package import SluiceJSON
import SluicePluginHost
import SluiceTrial

/// A place in a list that has a configuration of its own.
struct PlaceConfiguration {
  /// `request[0]`.
  let key: String
  let config: JSONValue
  let location: ConfigurationLocation
}

extension Configuration {
  /// The places of a plugin that have a configuration, in the order in which the instance gets them.
  func places(of plugin: String) -> [PlaceConfiguration] {
    [("request", request), ("issue", issue), ("response", response)].flatMap { list, references in
      references.enumerated().compactMap { index, reference in
        guard reference.plugin == plugin, let config = reference.config else { return nil }
        return PlaceConfiguration(
          key: "\(list)[\(index)]", config: config, location: reference.configLocation ?? reference.location)
      }
    }
  }

  /// The places of a plugin for a trial.
  func probePlaces(of plugin: String) -> [ProbeCandidate.Place] {
    places(of: plugin).map {
      ProbeCandidate.Place(key: $0.key, configuration: (try? $0.config.serializedText()) ?? "{}")
    }
  }

  /// All configurations that plugins get. They may contain secrets.
  package var pluginConfigurations: [JSONValue] {
    plugins.map(\.config) + (request + issue + response).compactMap(\.config)
  }
}
