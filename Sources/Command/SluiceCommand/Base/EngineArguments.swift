import SluiceAssembly
import SluiceSupport

/// The arguments of a command that runs an engine and can reload its configuration.
struct EngineArguments: Sendable {
  /// The configuration file; nil without one.
  let file: String?
  private let plugins: [String]
  private let control: ControlPlace?
  private let metricsPort: UInt16?

  init(_ arguments: ParsedArguments) throws(CommandError) {
    file = arguments["config"]
    plugins = arguments.all("plugin")
    control = arguments["control"].map { $0.isEmpty ? .userFolder : .path(SystemPath.absolute($0)) }
    metricsPort = try arguments.integer("metrics-port", 0...65535).map { UInt16($0) }
  }

  /// Adds the settings of the arguments to a configuration that was read, at the start or later.
  func complete(_ configuration: Configuration) throws(CommandError) -> Configuration {
    var configuration = configuration
    try PipedTLSFiles.replace(in: &configuration.transport)
    try PluginArguments.append(plugins, to: &configuration)
    if let control { configuration.control = control }
    return configuration
  }

  /// - Parameter configuration: complete.
  func places(_ configuration: Configuration) -> EngineServices.Places {
    EngineServices.Places(control: configuration.control, metricsPort: metricsPort)
  }
}
