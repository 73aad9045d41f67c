import SluiceJSON

/// One check of a library in a conformance run. Each check runs in its own child process.
package struct ConformanceCheck: Sendable {
  /// Stable, `[a-z0-9-]`.
  package let name: String
  /// The statement that is true if the check passes: a sentence without a full stop.
  package let description: String
  let answer: @Sendable (CheckRun) throws -> Void

  init(_ name: String, _ description: String, _ answer: @escaping @Sendable (CheckRun) throws -> Void) {
    self.name = name
    self.description = description
    self.answer = answer
  }

  /// The name of the check whose process ends by exit(3).
  static let exit = "exit-functions"

  package static let all: [ConformanceCheck] = librarySide + lifecycle + traffic + permissions + extensions

  package static func named(_ name: String) -> ConformanceCheck? { all.first { $0.name == name } }
}

/// The result of a check.
package enum CheckVerdict: Sendable, Hashable {
  case passed
  case failed(String)
  /// The check could not be run; the text is the reason.
  case skipped(String)
  /// The plugin does not have the feature that is checked.
  case absent(String)

  var document: JSONValue {
    switch self {
    case .passed: ["outcome": "passed"]
    case .failed(let reason): ["outcome": "failed", "reason": JSONValue(reason)]
    case .skipped(let reason): ["outcome": "skipped", "reason": JSONValue(reason)]
    case .absent(let reason): ["outcome": "absent", "reason": JSONValue(reason)]
    }
  }

  init?(_ document: JSONValue?) {
    let reason = document?["reason"]?.string ?? ""
    switch document?["outcome"]?.string {
    case "passed": self = .passed
    case "failed": self = .failed(reason)
    case "skipped": self = .skipped(reason)
    case "absent": self = .absent(reason)
    default: return nil
    }
  }
}
