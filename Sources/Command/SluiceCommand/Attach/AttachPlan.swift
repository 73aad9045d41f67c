import Glibc
import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePluginHost
import SluiceSupport

/// What a program gets from the command: the configuration, and the path of the private copy of each library.
struct AttachPlan: Sendable {
  let text: [UInt8]
  /// The time of the system when the reading of the files began, in seconds.
  let began: Int
  /// The paths of the configuration and of its libraries, and where each led to when it was read.
  let places: [String: String?]
  private let plan: ForeignPlan

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

  var failsWithoutPipeline: Bool { plan.configuration.attach.failsWithoutPipeline }

  var runsResponseStages: Bool { plan.configuration.attach.runsResponseStages }

  func isSame(as other: AttachPlan) -> Bool {
    plan.configurationText == other.plan.configurationText
      && plan.staged.map(\.copy.hash) == other.plan.staged.map(\.copy.hash)
  }

  func check() throws(CommandError) { try plan.check() }

  /// This is only a warning, because other commands may use the same configuration.
  func warnOfIneffectiveKeys() {
    let keys = IneffectiveKeys.of(plan.configurationText, mayCallOut: !plan.configuration.libraries.isEmpty)
    guard !keys.isEmpty else { return }
    let subject = keys.count == 1 ? "this key has" : "these keys have"
    StandardError.say(
      "\(PlainText.path(plan.file)): attach: \(subject) no effect in a program: \(keys.joined(separator: ", "))",
      .warning)
  }

  init(_ file: String, _ arguments: ParsedArguments) throws(CommandError) {
    began = time(nil)
    var places: [String: String?] = [:]
    plan = try ForeignPlan(file, for: "attach") { configuration throws(CommandError) in
      places = Dictionary(([file] + configuration.libraries).map { ($0, Paths.resolved($0)) }) { first, _ in first }
      try Self.checkLists(configuration)
      let features = HostFeatures.attached(runsResponseStages: configuration.attach.runsResponseStages)
      return HostOffer(host: "sluice attach", features: features)
    }
    self.places = places
    let document = plan.document(copy: \.copy.path)
    document["explain"] = JSONValue(arguments.has("explain"))
    if let events = arguments["events"] { document["events"] = JSONValue(try Self.eventsFolder(events)) }
    do { text = try document.serialized() } catch {
      throw CommandError(.failed, "attach: the plan cannot be written: \(error)")
    }
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
}
