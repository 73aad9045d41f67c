package import SluiceJSON

extension CanarySettings {
  /// Reads the settings that a client sends with a swap. Members that it leaves out keep their values.
  package init(_ document: JSONValue, over settings: CanarySettings?) throws(ConfigurationError) {
    let source = ConfigurationSource(file: nil, text: [])
    try self.init(ConfigurationNode(value: document, pointer: JSONPointer(), source: source), over: settings)
  }

  init(_ node: ConfigurationNode, over settings: CanarySettings? = nil) throws(ConfigurationError) {
    self = settings ?? CanarySettings()
    try node.checkObject(["steps", "hold", "by", "transactions", "latency", "onSilence"])
    if let steps = node["steps"] { self.steps = try steps.canarySteps() }
    if let hold = node["hold"] { self.hold = try hold.duration() }
    if let by = node["by"] { key = try by.canaryKey() }
    if let transactions = node["transactions"] { self.transactions = try transactions.integer(100...1_000_000_000) }
    if let latency = node["latency"] { comparesLatency = try latency.bool() }
    if let silence = node["onSilence"] { onSilence = try silence.word(Silence.self) }
  }
}

extension ConfigurationNode {
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
