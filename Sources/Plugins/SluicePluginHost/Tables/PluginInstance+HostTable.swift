package import SluiceJSON

extension PluginInstance {
  /// Checks the configuration against the plugin's schema and calls `create`, with the functions of ``HostTable``.
  ///
  /// - Parameter predecessor: the previous instance. Metrics that both instances define keep their numbers.
  package convenience init(
    _ generation: PluginGeneration, name: String, configuration: JSONValue, runtime: HostRuntime,
    following predecessor: PluginInstance? = nil
  ) throws(PluginError) {
    try self.init(
      generation, name: name, configuration: configuration, runtime: runtime, following: predecessor,
      hostTable: { HostTable.make(for: $0, name: $1) })
  }
}
