import Glibc
import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// A checked configuration and private copies of its libraries, for a program that is not this command. The plan has no
/// secrets, because the program itself resolves references to variables and files.
struct ForeignPlan: Sendable {
  let file: String
  let configuration: Configuration
  let configurationText: [UInt8]
  /// The values that hold the private copies of the libraries. A copy exists as long as its value.
  let staged: [StagedLibrary]
  /// The name of the command, for messages.
  private let command: String
  /// The trials that were passed before; nil without libraries.
  private let verdicts: VerdictList?

  /// Reads a configuration and makes copies of its libraries.
  ///
  /// - Parameters:
  ///   - command: the name of the command, without `sluice`.
  ///   - offer: what the host of the program offers.
  init(
    _ file: String, for command: String, offer: (Configuration) throws(CommandError) -> HostOffer
  ) throws(CommandError) {
    self.file = file
    self.command = command
    do { configurationText = try Configuration.text(of: file) } catch { throw CommandError(.usage, "\(error)") }
    configuration = try EngineStart.configuration(configurationText, of: file)
    let offer = try offer(configuration)
    try EngineUpdates.check(configuration)
    guard !configuration.libraries.isEmpty else {
      (staged, verdicts) = ([], nil)
      return
    }
    do throws(EngineError) { (staged, verdicts) = try Self.stage(configuration, offer) } catch {
      throw EngineStart.failure(error)
    }
    for library in staged {
      for warning in library.facts.swapWarnings {
        StandardError.say("\(command): \(library.path): \(warning)", .warning)
      }
    }
  }

  /// Tries the plugins out in child processes, so that a problem is reported before a program meets it. What was passed
  /// before is not repeated.
  func check() throws(CommandError) {
    let trial = CheckTrial(file, configurationText, configuration)
    if let problem = try trial.problems(of: staged, remembering: verdicts).first { throw problem }
  }

  /// The plan, without what only one kind of program needs.
  ///
  /// - Parameter copy: returns the path of a library's copy for the program.
  func document(copy: (StagedLibrary) -> String) -> JSONValue {
    let document: JSONValue = ["text": JSONValue(String(decoding: configurationText, as: UTF8.self))]
    document["file"] = JSONValue(Paths.absolute(file))
    if let folder = configuration.installedPlugins.folder { document["pluginFolder"] = JSONValue(folder) }
    let libraries = JSONValue.object()
    for library in staged {
      // The program looks a library up by its absolute path.
      libraries[Paths.absolute(library.path)] = Self.entry(library, copy(library))
    }
    document["libraries"] = libraries
    return document
  }

  /// Must not be called without libraries.
  private static func stage(
    _ configuration: Configuration, _ offer: HostOffer
  ) throws(EngineError) -> (libraries: [StagedLibrary], verdicts: VerdictList) {
    func failure(_ error: PluginError, _ path: String) -> EngineError {
      let plugin = configuration.plugins.first { $0.library == path }
      return .plugin(error.named(plugin?.name ?? path), plugin?.location ?? ConfigurationLocation())
    }
    let loader: PluginLoader
    do throws(PluginError) { loader = try PluginLoader(store: configuration.store, offer: offer) } catch {
      throw failure(error, configuration.libraries[0])
    }
    let results = WaitingThread.run {
      await configuration.libraries.mapConcurrently(atMost: 4) { path in
        await ControlThread.run {
          Result { () throws(PluginError) in try loader.stage(path, allowing: configuration.allowed(of: path)) }
        }
      }
    }
    var staged: [StagedLibrary] = []
    for (path, result) in zip(configuration.libraries, results) {
      do throws(PluginError) { staged.append(try result.get()) } catch { throw failure(error, path) }
    }
    return (staged, VerdictList(store: loader.store))
  }

  private static func entry(_ library: StagedLibrary, _ copy: String) -> JSONValue {
    let entry: JSONValue = ["copy": JSONValue(copy), "hash": JSONValue(library.copy.hash.hex)]
    if library.facts.requiredFeatures.features.contains(.callOuts) { entry["callsOut"] = true }
    if let buildID = library.facts.buildID { entry["buildId"] = JSONValue(buildID) }
    if library.facts.swiftRuntime == .shared, let id = DynamicLoader.own?.swiftBuildID(of: library.path) {
      entry["swiftBuildId"] = JSONValue(id)
    }
    return entry
  }
}
