import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The only list of the stages that come with the engine. They are ordinary stages.
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

  /// An interceptor, a tracer, or both.
  struct Stage: Sendable {
    var interceptor: (any Interceptor)?
    var tracer: (any Tracer)?
    /// The interceptor at its places that have a configuration of their own, in the order of the lists.
    var places: [any Interceptor] = []
  }

  private typealias Maker = @Sendable (Setting) throws(ConfigurationError) -> Stage

  private static let makers: [(name: String, make: Maker)] = [
    ("headers", HeadersStage.make), ("metrics", MetricsStage.make),
  ]

  /// Whether a stage has counts that continue in a new configuration if the stage's own settings are the same.
  static func counts(_ name: String) -> Bool { name == "metrics" }

  static var names: [String] { makers.map(\.name) }

  static func make(_ name: String, _ setting: Setting) throws(ConfigurationError) -> Stage {
    guard let maker = makers.first(where: { $0.name == name }) else {
      throw ConfigurationError(setting.plugin.location, "no built-in is named \"\(name)\"")
    }
    return try maker.make(setting)
  }
}
