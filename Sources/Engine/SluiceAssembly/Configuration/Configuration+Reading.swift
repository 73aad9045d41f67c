import SluiceJSON
import SluiceMessages
import SluicePipeline

extension Configuration {
  /// The maximum size of a configuration.
  package static let limitBytes = 16 << 20

  /// Reads a configuration file; paths in it are relative to it.
  /// - Parameter installedPlugins: where to look up libraries that are given by name.
  public init(
    file path: String, installedPlugins: InstalledPlugins = .ofThisProgram
  ) throws(ConfigurationError) {
    try self.init(text: Self.text(of: path), file: path, installedPlugins: installedPlugins)
  }

  /// The text of a configuration file, for callers that pass it to a second process and so read the file only once.
  package static func text(of path: String) throws(ConfigurationError) -> [UInt8] {
    do { return try FileText.read(path, limitBytes: limitBytes) } catch {
      throw ConfigurationError(ConfigurationLocation(file: path), "cannot read it: \(error)")
    }
  }

  /// Reads a configuration from text.
  /// - Parameters:
  ///   - file: the base of relative paths, and the file that errors name.
  ///   - installedPlugins: where to look up libraries that are given by name.
  public init(
    text: [UInt8], file: String? = nil, installedPlugins: InstalledPlugins = .ofThisProgram
  ) throws(ConfigurationError) {
    let text = Array(text.withoutByteOrderMark)
    let root: JSONValue
    do { root = try JSONValue(parsing: text, options: .rejectDuplicates) } catch {
      let location = ConfigurationLocation(file: file, line: error.line)
      throw ConfigurationError(location, Self.words(error))
    }
    self.init()
    self.file = file
    self.text = text
    self.installedPlugins = installedPlugins
    let source = ConfigurationSource(file: file, text: text, installedPlugins: installedPlugins)
    try read(ConfigurationNode(value: root, pointer: JSONPointer(), source: source))
  }

  private static func words(_ error: JSONError) -> String {
    error.code == .duplicateKey ? "a name occurs twice in one object: \(error.message)" : "not JSON: \(error.message)"
  }

  private mutating func read(_ root: ConfigurationNode) throws(ConfigurationError) {
    try root.checkObject([
      "plugins", "request", "issue", "response", "tracers", "deadline", "transport", "retry", "redirects", "validate",
      "requestId", "serviceName", "redact", "swap", "limits", "watchdog", "store", "control", "update", "attach",
      "serve",
    ])
    if let node = root["update"] { try readUpdate(node) }
    if let node = root["plugins"] { try readPlugins(node) }
    request = try stages(root["request"])
    issue = try stages(root["issue"])
    response = try stages(root["response"])
    tracers = try stages(root["tracers"])
    if let node = root["deadline"] { (deadline, namesDeadline) = (try node.timeLimit(), true) }
    if let node = root["transport"] { try readTransport(node) }
    if let node = root["retry"] { try readRetry(node) }
    if let node = root["redirects"] { try readRedirects(node) }
    if let node = root["validate"] { try readValidation(node) }
    if let node = root["requestId"] { try readRequestID(node) }
    if let node = root["serviceName"] { serviceName = try Self.serviceName(node) }
    if let node = root["redact"] { try readRedaction(node) }
    if let node = root["swap"] { try readSwap(node) }
    if let node = root["limits"] { try readLimits(node) }
    if let node = root["watchdog"] { try readWatchdog(node) }
    if let node = root["store"] { store = try node.path() }
    if let node = root["control"] { try readControl(node) }
    if let node = root["attach"] { try readAttach(node) }
    if let node = root["serve"] { try readServe(node) }
  }

  private mutating func readWatchdog(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["limit", "abandon", "kill"])
    if let limit = node["limit"] { stallLimit = try limit.duration() }
    if let abandon = node["abandon"] { stallAbandon = try abandon.timeLimit() }
    guard let kill = node["kill"] else { return }
    stallKillLimit = try kill.duration()
    guard stallKillLimit == .zero || stallKillLimit >= .seconds(1) else {
      throw kill.error(
        "expected at least \"1s\", found \(kill.value)", advice: "\"0s\" never ends the process")
    }
  }

  private mutating func readRequestID(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["header"])
    if let header = node["header"] { requestIDHeader = try header.fieldName() }
  }

  private static func serviceName(_ node: ConfigurationNode) throws(ConfigurationError) -> String {
    let name = try node.string()
    guard !name.isEmpty else { throw node.error("expected a name, found an empty one", advice: "leave the key out") }
    return name
  }

  private mutating func readRedaction(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["headers", "query"])
    if let headers = node["headers"] {
      for element in try headers.elements() { redaction.headers.append(try element.fieldName().lowercased()) }
    }
    if let query = node["query"] { redaction.query = try query.strings() }
  }
}

extension ConfigurationNode {
  func fieldName() throws(ConfigurationError) -> String {
    let name = try string()
    guard FieldSyntax.isToken(name.utf8.span) else {
      throw error("expected the name of a header, found \(PlainText.quote(name))")
    }
    return name
  }

  /// `200`, `"200"`, `"2xx"` or `"200-299"`.
  func statusRange() throws(ConfigurationError) -> ClosedRange<Int> {
    if let number = value.integer, (100...999).contains(number) { return Int(number)...Int(number) }
    let text = Array((value.string ?? "").utf8)
    if text.count == 3, text[1...].elementsEqual("xx".utf8), (0x31...0x39).contains(text[0]) {
      let first = Int(text[0] - 0x30) * 100
      return first...first + 99
    }
    let bounds = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).map(Self.status)
    if bounds.count <= 2, let low = bounds.first ?? nil, let high = bounds.last ?? nil, low <= high {
      return low...high
    }
    throw error("expected a status such as 200, a class such as \"2xx\", or a range such as \"200-299\"")
  }

  /// Exactly three digits: `Int` would also accept a sign and more digits.
  private static func status(_ text: ArraySlice<UInt8>) -> Int? {
    guard text.count == 3, text.first != 0x30, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }
}
