import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Makes the stages that come with the engine, which are ordinary stages.
enum BuiltIns {
  /// The values from which a built-in is created.
  struct Setting {
    let configuration: Configuration
    let plugin: PluginConfiguration
    let log: @Sendable (LogLine) -> Void

    /// Reports a setting that the built-in ignores.
    func warn(_ message: String) { log(LogLine(level: .warning, stage: plugin.name, message: message)) }

    /// Reads the built-in's `config`. References in it are already resolved and its text is not available any more, so
    /// an error names the key below `plugins.NAME.config` and the line of the plugin.
    func read<Value>(
      _ body: (ConfigurationNode) throws(ConfigurationError) -> Value
    ) throws(ConfigurationError) -> Value {
      let source = ConfigurationSource(file: plugin.location.file, text: [])
      let pointer = JSONPointer(tokens: ["plugins", plugin.name, "config"])
      do { return try body(ConfigurationNode(value: plugin.config, pointer: pointer, source: source)) } catch {
        var error = error
        error.location.line = plugin.location.line
        throw error
      }
    }
  }

  /// Whether a stage has counts that must continue in a new configuration. They continue only if the settings of the
  /// stage are the same.
  static func counts(_ name: String) -> Bool { name == BuiltInName.metrics.rawValue }

  static func make(_ name: String, _ setting: Setting) throws(ConfigurationError) -> PipelineStage {
    switch BuiltInName(rawValue: name) {
    case .headers: return try headers(setting)
    case .metrics: return try metrics(setting)
    case nil: throw ConfigurationError(setting.plugin.location, "no built-in is named \"\(name)\"")
    }
  }

  private static func headers(_ setting: Setting) throws(ConfigurationError) -> PipelineStage {
    let settings = try setting.read { node throws(ConfigurationError) in
      var settings = try HeadersStage.Settings(
        node, setting.configuration, TelemetryEnvironment { setting.warn($0) })
      settings.name = setting.plugin.name
      return settings
    }
    return PipelineStage(interceptor: HeadersStage(settings))
  }

  private static func metrics(_ setting: Setting) throws(ConfigurationError) -> PipelineStage {
    try setting.read { node throws(ConfigurationError) in
      guard let unknown = try node.members().first else { return }
      throw unknown.node.error(
        "unknown key \(PlainText.quote(unknown.key))", advice: "\"metrics\" has no settings; leave it out")
    }
    return PipelineStage(tracer: MetricsStage(loops: setting.configuration.transport.loops))
  }
}
