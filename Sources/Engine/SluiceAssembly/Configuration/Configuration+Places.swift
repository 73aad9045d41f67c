package import SluiceJSON

/// A place in a stage list, and the configuration that only this place has.
package struct PlaceConfiguration {
  /// `request[0]`.
  package let key: String
  package let config: JSONValue
  let location: ConfigurationLocation
}

extension Configuration {
  /// The places of a plugin that have a configuration, in the order in which the instance gets them.
  package func places(of plugin: String) -> [PlaceConfiguration] {
    [("request", request), ("issue", issue), ("response", response)].flatMap { list, references in
      references.enumerated().compactMap { index, reference in
        guard reference.plugin == plugin, let config = reference.config else { return nil }
        return PlaceConfiguration(
          key: "\(list)[\(index)]", config: config, location: reference.configLocation ?? reference.location)
      }
    }
  }

  /// All configurations that plugins get; they can hold secrets.
  package var pluginConfigurations: [JSONValue] {
    plugins.map(\.config) + (request + issue + response).compactMap(\.config)
  }
}
