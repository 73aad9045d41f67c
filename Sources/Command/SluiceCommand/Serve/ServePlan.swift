import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluiceSupport

/// What the arguments of `serve` and its configuration say together.
struct ServePlan: Sendable {
  let engine: EngineArguments
  let configuration: Configuration
  let settings: ServeSettings
  let places: EngineServices.Places
  /// The file of the access log; nil for none.
  private let accessLog: String?

  init(_ arguments: ParsedArguments) throws(CommandError) {
    engine = try EngineArguments(arguments)
    let read = try EngineStart.configuration(engine.file)
    settings = try Self.settings(read.serve, arguments)
    accessLog = arguments["access-log"]
    configuration = try Self.complete(read, engine, settings, accessLog)
    places = engine.places(configuration)
  }

  /// Adds the settings of the arguments to a configuration that was read later. The ports and the service stay.
  func complete(_ configuration: Configuration) throws(CommandError) -> Configuration {
    try Self.complete(configuration, engine, settings, accessLog)
  }

  /// The plugins that put credentials into the requests of everybody who reaches a port.
  var credentialsForStrangers: [String] {
    guard settings.listeners.contains(where: { !$0.isLoopback && $0.clients == .open }) else { return [] }
    let used = Set((configuration.request + configuration.issue).map(\.plugin))
    return configuration.plugins.filter { used.contains($0.name) && Self.addsCredentials($0) }.map(\.name)
  }

  /// Whether it is one of the shipped plugins that add credentials.
  private static func addsCredentials(_ plugin: PluginConfiguration) -> Bool {
    guard case .library(let path) = plugin.source else { return false }
    return ["bearer-auth", "oauth-refresh", "aws-sigv4"].contains { path.hasSuffix("lib\($0).so") }
  }

  private static func complete(
    _ read: Configuration, _ engine: EngineArguments, _ settings: ServeSettings, _ accessLog: String?
  ) throws(CommandError) -> Configuration {
    var configuration = try engine.complete(read)
    if let accessLog {
      try PluginArguments.append(
        tracer: "access-log", ["output": JSONValue(accessLog)], for: "--access-log", to: &configuration)
    }
    configuration.serveClients(of: settings.upstream)
    return configuration
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
        .usage,
        "--listen: expected a port, an address and a port, \"systemd\" or \"systemd:NAME\", found \(PlainText.quote(text))"
      )
    }
    if let known = configured.listeners.first(where: { $0.place == listener.place }) {
      return known
    }
    guard listener.isLoopback else {
      throw CommandError(
        .usage,
        "--listen: other machines can reach \(text), so the configuration must say who is served: add {\"at\": \"\(text)\","
          + " \"clients\": \"open\"} or address ranges to \"serve.listen\"")
    }
    return listener
  }
}
