import SluiceAssembly
import SluiceMessages
import SluiceSupport

/// What the arguments of `serve` and its configuration say together.
struct ServePlan: Sendable {
  let configuration: Configuration
  let settings: ServeSettings
  let places: EngineServices.Places
  /// The configuration file; nil if there is none.
  let file: String?
  private let plugins: [String]
  private let control: ControlPlace?

  init(_ arguments: ParsedArguments) throws(CommandError) {
    file = arguments["config"]
    plugins = arguments.all("plugin")
    control = arguments["control"].map { $0.isEmpty ? .userFolder : .path(SystemPath.absolute($0)) }
    let read = try EngineStart.configuration(file)
    settings = try Self.settings(read.serve, arguments)
    var configuration = read
    try Self.complete(&configuration, settings, plugins, control)
    self.configuration = configuration
    places = EngineServices.Places(
      control: configuration.control, metricsPort: try arguments.integer("metrics-port", 0...65535).map { UInt16($0) })
  }

  /// Adds the settings of the arguments to a configuration that was read later. The ports and the service stay.
  func complete(_ new: Configuration) throws(CommandError) -> Configuration {
    var configuration = new
    try Self.complete(&configuration, settings, plugins, control)
    return configuration
  }

  private static func complete(
    _ configuration: inout Configuration, _ settings: ServeSettings, _ plugins: [String], _ control: ControlPlace?
  ) throws(CommandError) {
    try PipedTLSFiles.replace(in: &configuration.transport)
    try PluginArguments.append(plugins, to: &configuration)
    if let control { configuration.control = control }
    configuration.isShared = true
    // A transaction can take as long as its bodies make progress.
    if !configuration.namesDeadline { configuration.deadline = nil }
    // By default, trace headers go to the origin of this URL.
    if configuration.baseURL == nil { configuration.baseURL = settings.upstream }
  }

  private static func settings(
    _ configured: ServeSettings, _ arguments: ParsedArguments
  ) throws(CommandError) -> ServeSettings {
    var settings = configured
    let places = arguments.all("listen")
    if !places.isEmpty { settings.listeners = [] }
    for place in places { settings.listeners.append(try listener(place, configured)) }
    if let to = arguments["to"] {
      do throws(MessageError) { try settings.setUpstream(to) { SystemPath.absolute($0) } } catch {
        throw CommandError(.usage, "--to: \(PlainText.quote(to)): \(error.reason)")
      }
    }
    if let drain = try arguments.duration("drain") { settings.drain = drain }
    guard settings.upstream != nil else {
      throw CommandError(.usage, "no service: name it with --to URL, or with \"serve.to\" in the configuration")
    }
    guard !settings.listeners.isEmpty else {
      throw CommandError(.usage, "no port: give one with --listen PORT, or with \"serve.listen\" in the configuration")
    }
    return settings
  }

  /// A place on the command line is served to the clients that the configuration gives for the same place.
  private static func listener(
    _ text: String, _ configured: ServeSettings
  ) throws(CommandError) -> ServeSettings.Listener {
    guard let listener = ServeSettings.Listener(text) else {
      throw CommandError(
        .usage, "--listen: expected a port, or an address and a port, found \(PlainText.quote(text))")
    }
    if let known = configured.listeners.first(where: { ($0.host, $0.port) == (listener.host, listener.port) }) {
      return known
    }
    guard listener.isLoopback else {
      throw CommandError(
        .usage,
        "--listen: other machines reach \(listener.host), so the configuration must say who is served: add {\"at\": \"\(text)\","
          + " \"clients\": \"open\"} or address ranges to \"serve.listen\"")
    }
    return listener
  }
}
