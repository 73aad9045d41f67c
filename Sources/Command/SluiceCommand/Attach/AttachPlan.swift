import Glibc
import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePluginFile
import SluicePluginHost
import SluiceSupport

/// What a program gets from the command: the configuration, and the path of the private copy of each library. It
/// contains no secrets, because the program itself resolves references to variables and files.
struct AttachPlan: Sendable {
  let text: [UInt8]
  /// The time of the system when the reading of the files began, in seconds.
  let began: Int
  /// The paths of the configuration and of its libraries, and where each led to when it was read.
  let places: [String: String?]
  private let file: String
  private let configuration: Configuration
  private let configurationText: [UInt8]
  /// The values that hold the private copies of the libraries. A copy exists as long as its value.
  private let staged: [StagedLibrary]
  /// The trials that were passed before; nil without libraries.
  private let verdicts: VerdictList?

  /// The paths whose files might have changed since they were read: a path leads elsewhere, or its file was changed after
  /// the beginning. The time of a change comes from the clock of the file system, which can be a little behind.
  var changedPlaces: [String] {
    places.filter { path, place in
      guard Paths.resolved(path) == place else { return true }
      // A pipe can be read only once.
      guard let status = SystemPath.status(of: path), status.isRegularFile else { return false }
      return status.st_ctim.tv_sec >= began - 2
    }.map(\.key)
  }

  var failsWithoutPipeline: Bool { configuration.attach.failsWithoutPipeline }

  var runsResponseStages: Bool { configuration.attach.runsResponseStages }

  func isSame(as other: AttachPlan) -> Bool {
    configurationText == other.configurationText && staged.map(\.copy.hash) == other.staged.map(\.copy.hash)
  }

  /// Tries the plugins out in child processes, so that a problem is reported before a program meets it. What was passed
  /// before is not repeated.
  func check() throws(CommandError) {
    let trial = CheckTrial(file, configurationText, configuration)
    if let problem = try trial.problems(of: staged, remembering: verdicts).first { throw problem }
  }

  /// This is only a warning, because other commands may use the same configuration.
  func warnOfIneffectiveKeys() {
    let keys = IneffectiveKeys.of(configurationText, mayCallOut: !configuration.libraries.isEmpty)
    guard !keys.isEmpty else { return }
    let subject = keys.count == 1 ? "this key has" : "these keys have"
    StandardError.say(
      "\(PlainText.path(file)): attach: \(subject) no effect in a program: \(keys.joined(separator: ", "))", .warning)
  }

  init(_ file: String, _ arguments: ParsedArguments) throws(CommandError) {
    began = time(nil)
    let bytes: [UInt8]
    do { bytes = try Configuration.text(of: file) } catch { throw CommandError(.usage, "\(error)") }
    let configuration = try EngineStart.configuration(bytes, of: file)
    places = Dictionary(([file] + configuration.libraries).map { ($0, Paths.resolved($0)) }) { first, _ in first }
    try Self.checkLists(configuration)
    try EngineUpdates.check(configuration)
    let document: JSONValue = ["text": JSONValue(String(decoding: bytes, as: UTF8.self))]
    document["file"] = JSONValue(Paths.absolute(file))
    document["explain"] = JSONValue(arguments.has("explain"))
    if let folder = configuration.installedPlugins.folder { document["pluginFolder"] = JSONValue(folder) }
    if let events = arguments["events"] { document["events"] = JSONValue(try Self.eventsFolder(events)) }
    let libraries = JSONValue.object()
    var staged: [StagedLibrary] = []
    var verdicts: VerdictList?
    if !configuration.libraries.isEmpty {
      do throws(EngineError) {
        (staged, verdicts) = try Self.stage(configuration)
        for library in staged {
          // The program looks a library up by its absolute path.
          libraries[Paths.absolute(library.path)] = Self.entry(library)
        }
      } catch { throw EngineStart.failure(error) }
    }
    document["libraries"] = libraries
    do { text = try document.serialized() } catch {
      throw CommandError(.failed, "attach: the plan cannot be written: \(error)")
    }
    self.staged = staged
    self.verdicts = verdicts
    self.file = file
    self.configuration = configuration
    configurationText = bytes
  }

  /// Refuses response stages that would not be called: they may be meant to check responses, and the responses would
  /// pass unchecked.
  private static func checkLists(_ configuration: Configuration) throws(CommandError) {
    guard let first = configuration.response.first, !configuration.attach.runsResponseStages else { return }
    throw CommandError(
      .usage,
      "\(first.location): attach: response stages are not called, because the response goes to the program as it comes;"
        + " set attach.response to \"staged\" to hold its head back until they have seen it, or use a configuration"
        + " without \"response\"")
  }

  private static func eventsFolder(_ path: String) throws(CommandError) -> String {
    guard mkdir(path, 0o700) == 0 || Paths.isFolder(path) else {
      throw CommandError(.usage, "--events \(PlainText.path(path)): cannot make this folder: \(SystemError.text())")
    }
    return Paths.absolute(path)
  }

  /// Must not be called without libraries.
  private static func stage(
    _ configuration: Configuration
  ) throws(EngineError) -> (libraries: [StagedLibrary], verdicts: VerdictList) {
    let features = HostFeatures.attached(runsResponseStages: configuration.attach.runsResponseStages)
    let offer = HostOffer(host: "sluice attach", features: features)
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
    for library in staged {
      for warning in library.facts.swapWarnings {
        StandardError.say("attach: \(library.path): \(warning)", .warning)
      }
    }
    return (staged, VerdictList(store: loader.store))
  }

  private static func entry(_ library: StagedLibrary) -> JSONValue {
    let entry: JSONValue = ["copy": JSONValue(library.copy.path), "hash": JSONValue(library.copy.hash.hex)]
    if library.facts.requiredFeatures.features.contains(.callOuts) { entry["callsOut"] = true }
    if let buildID = library.facts.buildID { entry["buildId"] = JSONValue(buildID) }
    if library.facts.swiftRuntime == .shared, let id = DynamicLoader.own?.swiftBuildID(of: library.path) {
      entry["swiftBuildId"] = JSONValue(id)
    }
    return entry
  }
}
