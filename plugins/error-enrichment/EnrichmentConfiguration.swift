import SluicePlugin

/// The `config` of the plugin.
struct EnrichmentConfiguration: Decodable, Sendable {
  /// The statuses of the responses to change, each a status or a class, such as "503" or "4xx".
  var statuses: [String]
  /// The name of the response header that gets the transaction's id; null for none.
  var header: String?
  /// The name of the member that a JSON object gets; null for none.
  var key: String?
  /// Names of further query parameters whose values are secrets.
  var redactQuery: [String]

  static let defaults: JSONValue = [
    "statuses": ["4xx", "5xx"], "header": "x-sluice-transaction", "key": "sluice", "redactQuery": [],
  ]

  func checkedStatuses() throws(StageFailure) -> StatusSet {
    var set = StatusSet()
    for (index, spelling) in statuses.enumerated() {
      guard set.insert(spelling) else {
        throw StageFailure(
          message: "config key \"statuses[\(index)]\": expected a status or a class such as \"4xx\", "
            + "found \"\(spelling)\"")
      }
    }
    return set
  }
}

/// A set of statuses; single statuses and whole classes can be added.
struct StatusSet: Sendable {
  private var statuses: Set<Int> = []

  /// Adds a text such as "503" or "5xx"; returns false for any other text.
  mutating func insert(_ spelling: String) -> Bool {
    if spelling.utf8.count == 3, let status = Int(spelling), (200...999).contains(status) {
      statuses.insert(status)
      return true
    }
    guard spelling.utf8.count == 3, spelling.hasSuffix("xx"), let digit = spelling.first?.wholeNumberValue,
      (2...9).contains(digit)
    else { return false }
    statuses.formUnion(digit * 100..<digit * 100 + 100)
    return true
  }

  func contains(_ status: Int) -> Bool { statuses.contains(status) }
}
