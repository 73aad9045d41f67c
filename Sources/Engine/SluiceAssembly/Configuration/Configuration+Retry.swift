import SluiceJSON
import SluiceMessages
import SluicePipeline

extension Configuration {
  mutating func readRetry(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["maxAttempts", "statuses", "methods", "connectionErrors", "backoff", "budget"])
    if let attempts = node["maxAttempts"] { maximumAttempts = try attempts.integer(1...100) }
    if let statuses = node["statuses"] { retry.statuses = try statuses.statuses() }
    if let methods = node["methods"] { retry.methods = try methods.methods() }
    if let errors = node["connectionErrors"] { retry.connectionErrors = try errors.bool() ? .always : .never }
    if let backoff = node["backoff"] { try readBackoff(backoff) }
    if let budget = node["budget"] { retry.budget = try budget.number(0...100) }
  }

  private mutating func readBackoff(_ node: ConfigurationNode) throws(ConfigurationError) {
    try node.checkObject(["base", "max"])
    if let base = node["base"] { retry.backoff.base = try base.duration() }
    if let maximum = node["max"] { retry.backoff.maximum = try maximum.duration() }
  }
}

extension ConfigurationNode {
  /// A list of statuses, such as `503`, of classes, such as `"5xx"`, and of ranges, such as `"500-504"`.
  func statuses() throws(ConfigurationError) -> StatusSet {
    var ranges: [ClosedRange<Int>] = []
    for element in try elements() { ranges.append(try element.statusRange()) }
    return StatusSet(ranges)
  }

  fileprivate func methods() throws(ConfigurationError) -> [String] {
    var methods: [String] = []
    for element in try elements() {
      let method = try element.string()
      guard FieldSyntax.isToken(method.utf8.span) else {
        throw element.error("expected a method such as GET, found \(PlainText.quote(method))")
      }
      methods.append(method)
    }
    return methods
  }

  func number(_ range: ClosedRange<Double>) throws(ConfigurationError) -> Double {
    guard let number = value.number else { throw mismatch("a number") }
    guard range.contains(number) else {
      throw error("expected a number from \(range.lowerBound) to \(range.upperBound), found \(number)")
    }
    return number
  }
}
