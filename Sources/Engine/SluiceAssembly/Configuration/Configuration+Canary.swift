package import SluiceJSON
import SluiceMessages

extension CanarySettings {
  /// The members of a swap that the settings are read from.
  package static let members = ["canary", "shadow"]

  /// Reads the settings that a client sends with a swap, from ``members``. Those that it leaves out keep their values.
  package init(_ document: JSONValue, over settings: CanarySettings?) throws(ConfigurationError) {
    let source = ConfigurationSource(file: nil, text: [])
    let node = ConfigurationNode(value: document, pointer: JSONPointer(), source: source)
    self = try Self.read(node, over: settings) ?? CanarySettings()
  }

  /// Reads `canary` and `shadow`. Returns nil if there is neither, and no other settings.
  static func read(
    _ node: ConfigurationNode, over settings: CanarySettings? = nil
  ) throws(ConfigurationError) -> CanarySettings? {
    var settings = settings
    if let canary = node["canary"] {
      if settings?.steps.isEmpty == true { settings?.steps = CanarySettings().steps }
      settings = try CanarySettings(canary, over: settings ?? CanarySettings())
    }
    if let shadow = node["shadow"] {
      let read = try ShadowSettings(shadow, over: settings?.shadow ?? ShadowSettings())
      if settings == nil {
        settings = CanarySettings()
        settings?.steps = []
      }
      settings?.shadow = read
    }
    return settings
  }

  private init(_ node: ConfigurationNode, over settings: CanarySettings) throws(ConfigurationError) {
    self = settings
    try node.checkObject(["steps", "hold", "by", "transactions", "latency", "onSilence"])
    if let steps = node["steps"] { self.steps = try steps.canarySteps() }
    if let hold = node["hold"] { self.hold = try hold.duration() }
    if let by = node["by"] { key = try by.canaryKey() }
    if let transactions = node["transactions"] { self.transactions = try transactions.integer(100...1_000_000_000) }
    if let latency = node["latency"] { comparesLatency = try latency.bool() }
    if let silence = node["onSilence"] { onSilence = try silence.word(Silence.self) }
  }
}

extension ShadowSettings {
  fileprivate init(_ node: ConfigurationNode, over settings: ShadowSettings) throws(ConfigurationError) {
    self = settings
    try node.checkObject(["share", "duration", "differences", "ignore"])
    if let share = node["share"] { self.share = try share.number(0.001...100) }
    if let duration = node["duration"] { self.duration = try duration.duration() }
    if let differences = node["differences"] { self.differences = try differences.integer(0...1_000_000_000) }
    guard let ignore = node["ignore"] else { return }
    ignored = []
    for element in try ignore.elements() { ignored.insert(try element.comparedPart()) }
  }
}

extension ConfigurationNode {
  /// What a replay compares, as its report names it. The words are those of `ReplayFacts`.
  fileprivate func comparedPart() throws(ConfigurationError) -> String {
    let text = value.string ?? ""
    let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    if words.count == 2, ["header", "trailer"].contains(words[0]), FieldSyntax.isToken(words[1].utf8.span) {
      return "\(words[0]) \(words[1].lowercased())"
    }
    if words.count == 2, ["limit", "call-out"].contains(words[0]), !words[1].isEmpty { return text }
    let known = ["method", "URL", "body", "status", "error", "message", "attempts", "verdict"]
    guard known.contains(text) else {
      throw error(
        "expected \"header NAME\", \"trailer NAME\", \"limit NAME\", \"call-out METHOD URL\" or one of "
          + "\(known.joined(separator: ", ")), found \(value)")
    }
    return text
  }

  /// A list of percentages, each larger than the one before.
  fileprivate func canarySteps() throws(ConfigurationError) -> [Double] {
    var steps: [Double] = []
    for element in try elements() {
      let share = try element.number(0.001...99.999)
      guard share > steps.last ?? 0 else { throw element.error("expected more than the step before, found \(share)") }
      steps.append(share)
    }
    guard (1...20).contains(steps.count) else { throw error("expected 1 to 20 steps, found \(steps.count)") }
    return steps
  }

  fileprivate func canaryKey() throws(ConfigurationError) -> CanarySettings.Key {
    if value.isObject {
      try checkObject(["header"])
      guard let header = self["header"] else { throw error("expected a \"header\"") }
      return .header(try header.fieldName())
    }
    guard value.string == "transaction" else {
      throw error("expected \"transaction\" or an object with \"header\", found \(value)")
    }
    return .transaction
  }
}
