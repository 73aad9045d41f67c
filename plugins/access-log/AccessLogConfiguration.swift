import SluicePlugin

/// The `config` of the plugin.
struct AccessLogConfiguration: Decodable, Sendable {
  struct Redact: Decodable, Sendable {
    var headers: [String]?
    var query: [String]?
  }

  /// A file to which lines are appended, or "-" for standard error.
  var output: String
  /// The names of the request fields to log.
  var requestHeaders: [String]
  var responseHeaders: [String]
  /// The names of the transaction's attributes to log.
  var attributes: [String]
  /// Names of further headers and query parameters whose values are secrets.
  var redact: Redact
  /// Maximum number of lines that wait to be written; further lines are dropped, counted and reported.
  var queueLines: Int

  static let defaults: JSONValue = [
    "output": "-", "requestHeaders": [], "responseHeaders": [], "attributes": [], "redact": [:], "queueLines": 16384,
  ]

  var redaction: Redaction { Redaction(headers: redact.headers ?? [], query: redact.query ?? []) }

  func check() throws(StageFailure) {
    guard !output.isEmpty else {
      throw StageFailure(message: "config key \"output\": expected the path of a file, or \"-\" for standard error")
    }
    guard (1...1_048_576).contains(queueLines) else {
      throw StageFailure(
        message: "config key \"queueLines\": expected a number from 1 to 1048576, found \(queueLines)")
    }
    for (key, names) in [("requestHeaders", requestHeaders), ("responseHeaders", responseHeaders)] {
      for name in names where (try? HeaderFields.check(name: name.utf8.span, value: "".utf8.span)) == nil {
        throw StageFailure(message: "config key \"\(key)\": \(PlainText.quote(name)) is not the name of a header")
      }
    }
    for name in attributes where !Attribute.isName(name.utf8.span) {
      throw StageFailure(
        message: "config key \"attributes\": \(PlainText.quote(name)) is not the name of an attribute: a name has 1 to "
          + "\(Attribute.nameBytes) letters, digits, '.', '_' and '-', the first of them a letter")
    }
  }
}
