import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages

/// `--plugin LIBRARY[=JSON]`: adds plugins that no configuration file names.
enum PluginArguments {
  static let option = Option(
    "plugin", nil, "LIBRARY[=JSON]", "Add a plugin to each list that it has callbacks for; may be repeated")

  static func append(_ arguments: [String], to configuration: inout Configuration) throws(CommandError) {
    for argument in arguments {
      let plugin = try plugin(argument, taken: configuration.plugins.map(\.name))
      let reference = StageReference(plugin.name, isOptional: true, location: plugin.location)
      configuration.plugins.append(plugin)
      configuration.request.append(reference)
      configuration.issue.append(reference)
      configuration.response.append(reference)
      configuration.tracers.append(reference)
    }
  }

  /// Adds an installed plugin as a tracer.
  static func append(
    tracer library: String, _ config: JSONValue, for option: String, to configuration: inout Configuration
  ) throws(CommandError) {
    let path = try Self.library(library, for: option)
    let plugin = PluginConfiguration(
      name: name(path, configuration.plugins.map(\.name)), source: .library(path: path), config: config,
      location: ConfigurationLocation(file: option))
    configuration.plugins.append(plugin)
    configuration.tracers.append(StageReference(plugin.name, location: plugin.location))
  }

  private static func plugin(_ argument: String, taken: [String]) throws(CommandError) -> PluginConfiguration {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let path = String(parts[0])
    guard !path.isEmpty else {
      throw CommandError(.usage, "--plugin: expected LIBRARY or LIBRARY=JSON, found \(PlainText.quote(argument))")
    }
    return PluginConfiguration(
      name: name(path, taken), source: .library(path: try library(path, for: "--plugin")),
      config: try config(parts.dropFirst().first), location: ConfigurationLocation(file: "--plugin \(path)"))
  }

  /// The path of a library. As in a configuration, a library is given by its path, or by the name of an installed
  /// plugin.
  static func library(_ text: String, for subject: String) throws(CommandError) -> String {
    guard InstalledPlugins.isName(text) else { return text }
    do { return try InstalledPlugins.ofThisProgram.path(of: text, at: ConfigurationLocation(file: subject)) } catch {
      throw CommandError(.usage, "\(error)")
    }
  }

  private static func config(_ text: Substring?) throws(CommandError) -> JSONValue {
    guard let text else { return .object() }
    do { return try JSONValue(parsing: text.utf8, options: .rejectDuplicates) } catch {
      throw CommandError(.usage, "--plugin: the text after \"=\" is not JSON: \(error.message)")
    }
  }

  /// A name for the plugin: `retry` for `libretry.so`, and `retry-2` for a second plugin of this name.
  private static func name(_ path: String, _ taken: [String]) -> String {
    var name = path.split(separator: "/").last.map(String.init) ?? path
    if name.hasPrefix("lib") { name.removeFirst(3) }
    if name.hasSuffix(".so") { name.removeLast(3) }
    guard taken.contains(name) else { return name }
    let number = (2...).first { !taken.contains("\(name)-\($0)") } ?? 2
    return "\(name)-\(number)"
  }
}
