import Glibc
import SluiceJSON
public import SluiceMessages
import SluiceSupport

/// Where an engine gets signed releases of its plugins.
public struct UpdateSettings: Sendable, Hashable {
  /// The folder of the repository on a static HTTP server, without a slash at the end.
  public var url: HTTPURL
  /// The path of the first root that is trusted.
  public var root: String
  /// The channel whose releases are installed.
  public var channel = "stable"
  /// The time between two looks for a release; nil means that only a command or a notification starts a look.
  public var every: Duration? = .seconds(3600)
  /// Whether a release is swapped in as soon as it is verified. Otherwise it waits for the next start, or for a command.
  public var immediate = true
  /// The folder for accepted releases and installed builds. Engines that use the same folder share downloads. Each of
  /// them loads a release that another one has installed.
  public var folder: String

  /// Settings with the defaults of a configuration file.
  public init(url: HTTPURL, root: String, folder: String) {
    self.url = url
    self.root = root
    self.folder = folder
  }

  /// The path at which the installed build of a plugin is found. It is a link that changes with each release.
  package func path(of id: String) -> String { "\(folder)/current/\(id).so" }
}

extension Configuration {
  /// The shortest time between two looks for a release.
  private static let shortestUpdateInterval = Duration.seconds(1)

  mutating func readUpdate(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["url", "root", "channel", "every", "immediate", "folder"])
    guard let url = node["url"] else { throw node.error("expected \"url\" with the address of the repository") }
    guard let root = node["root"] else {
      throw node.error(
        "expected \"root\" with the path of the repository's root.json",
        advice: "get it from the publisher in a way that you trust, not from \"url\"")
    }
    let channel = try node["channel"].map { channel throws(ConfigurationError) in try Self.channel(channel) }
    let address = try Self.repository(url)
    var settings = UpdateSettings(
      url: address, root: try root.path(),
      folder: try Self.updateFolder(node, address, channel ?? "stable"))
    settings.channel = channel ?? settings.channel
    if let every = node["every"] {
      let interval = try every.duration()
      guard interval == .zero || interval >= Self.shortestUpdateInterval else {
        throw every.error(
          "expected at least \"1s\", found \(every.value)", advice: "with \"0s\", Sluice looks only when it is asked to"
        )
      }
      settings.every = interval == .zero ? nil : interval
    }
    if let immediate = node["immediate"] { settings.immediate = try immediate.bool() }
    update = settings
  }

  private static func repository(_ node: ConfigurationNode) throws(ConfigurationError) -> HTTPURL {
    let url = try node.parsed { text throws(MessageError) in
      try HTTPURL(text.hasSuffix("/") ? String(text.dropLast()) : text)
    }
    guard url.query == nil else { throw node.error("expected an address without a query") }
    return url
  }

  private static func channel(_ node: ConfigurationNode) throws(ConfigurationError) -> String {
    let name = try node.string()
    guard PortableName.isValid(name, limit: 64) else {
      throw node.error(
        "expected \(PortableName.description(limit: 64)), found \(PlainText.quote(name))")
    }
    return name
  }

  /// The id of a plugin in a release.
  static func releaseID(_ node: ConfigurationNode) throws(ConfigurationError) -> String {
    let id = try node.string()
    guard PortableName.isValid(id, limit: 128) else {
      throw node.error(
        "expected the id of a plugin in the release (\(PortableName.description(limit: 128))), found "
          + PlainText.quote(id))
    }
    return id
  }

  /// Returns the folder that the file names; otherwise a default folder, which is different for each repository and
  /// channel.
  private static func updateFolder(
    _ node: ConfigurationNode, _ url: HTTPURL, _ channel: String
  ) throws(ConfigurationError) -> String {
    if let folder = node["folder"] { return try folder.path() }
    guard let state = StateFolder.path else {
      throw node.error(
        "there is no home folder to keep the installed releases in", advice: "add \"folder\" with a folder of yours")
    }
    return "\(state)/sluice/updates/\(channel)-\(PortableName.digest(of: "\(url)"))"
  }
}

/// The user's folder for data that must survive a restart (XDG Base Directory Specification).
private enum StateFolder {
  /// `$XDG_STATE_HOME`, or `~/.local/state`; nil without a home. A relative path is ignored, as the specification demands.
  static var path: String? {
    absolute("XDG_STATE_HOME") ?? absolute("HOME").map { "\($0)/.local/state" }
  }

  private static func absolute(_ variable: String) -> String? {
    guard let value = getenv(variable) else { return nil }
    let path = String(cString: value)
    return path.hasPrefix("/") ? path : nil
  }
}
