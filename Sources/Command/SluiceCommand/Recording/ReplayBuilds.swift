import Sluice
import SluiceMessages
import SluiceReplay

/// The builds that the arguments of `replay` select.
struct ReplayBuilds: Sendable {
  let old: Replay.Build
  let new: Replay.Build

  init(_ arguments: ParsedArguments) throws(CommandError) {
    guard let file = arguments["config"] else {
      old = try Self.configuration("old", arguments)
      new = try Self.configuration("new", arguments)
      return
    }
    guard arguments.has("old") || arguments.has("new") else {
      throw CommandError(.usage, "replay: with -c, expected --old LIBRARY or --new LIBRARY, or both")
    }
    let library = try Self.library(of: file, named: arguments["name"])
    old = try Self.build(file, library, "old", arguments)
    new = try Self.build(file, library, "new", arguments)
  }

  private static func configuration(
    _ option: String, _ arguments: ParsedArguments
  ) throws(CommandError) -> Replay.Build {
    guard !arguments.has("name") else { throw CommandError(.usage, "replay: --name needs -c FILE, a configuration") }
    guard let path = arguments[option] else {
      throw CommandError(
        .usage,
        "replay: expected --\(option) FILE, a configuration; for libraries, add -c FILE, the configuration of both")
    }
    return try build(path)
  }

  private static func build(_ file: String, _ libraries: [String: String] = [:]) throws(CommandError) -> Replay.Build {
    // The helper process compares the paths of libraries. It does not know the folder in which the command was started.
    do { return try Replay.Build(file: Paths.absolute(file), libraries: libraries) } catch {
      let isLibrary = file.hasSuffix(".so")
      throw CommandError(
        .usage,
        isLibrary
          ? "replay: \(PlainText.path(file)) is a library; add -c FILE, the configuration of both builds" : "\(error)")
    }
  }

  /// - Parameter library: the path of the library in the configuration.
  private static func build(
    _ file: String, _ library: String, _ option: String, _ arguments: ParsedArguments
  ) throws(CommandError) -> Replay.Build {
    guard let given = arguments[option] else { return try build(file) }
    let path = try PluginArguments.library(given, for: "--\(option)")
    guard FileIdentity(at: path) != nil else {
      throw CommandError(.usage, "replay: --\(option) \(PlainText.path(path)): there is no such file")
    }
    return try build(file, [library: path])
  }

  /// The configured path of the library that the given file replaces.
  private static func library(of file: String, named name: String?) throws(CommandError) -> String {
    let configuration = try EngineStart.configuration(file)
    let plugins = configuration.plugins.filter { $0.library != nil }
    let names = plugins.map(\.name).joined(separator: ", ")
    if let name {
      guard let library = plugins.first(where: { $0.name == name })?.library else {
        let hint = plugins.isEmpty ? "none has a library" : "those with a library are \(names)"
        throw CommandError(
          .usage, "replay: --name: \(PlainText.path(file)) has no plugin \(PlainText.quote(name)); \(hint)")
      }
      return library
    }
    guard let library = configuration.libraries.first, configuration.libraries.count == 1 else {
      let hint = plugins.isEmpty ? "has no library" : "has several libraries; choose one with --name (\(names))"
      throw CommandError(.usage, "replay: \(PlainText.path(file)) \(hint)")
    }
    return library
  }
}
