import SluiceJSON

/// A message of a compiler or a linker about a place in a source.
struct Diagnostic: Hashable, Sendable {
  enum Severity: String, Sendable { case error, warning, note }

  /// The path as the tool spells it; nil if the tool names no file.
  var file: String?
  var line: Int?
  var column: Int?
  var severity: Severity
  var message: String
  /// The source lines that the tool shows below the message.
  var excerpt: [String] = []

  /// Whether both messages are the same. Tools repeat a message for each step that fails.
  func isSame(as other: Diagnostic) -> Bool {
    (file, line, column) == (other.file, other.line, other.column)
      && (severity, message) == (other.severity, other.message)
  }

  var document: JSONValue {
    let document: JSONValue = ["severity": JSONValue(severity.rawValue), "message": JSONValue(message)]
    document["file"] = file.map { JSONValue($0) }
    document["line"] = line.map { JSONValue(Int64($0)) }
    document["column"] = column.map { JSONValue(Int64($0)) }
    return document
  }

  /// The message in the format that compilers use.
  func lines(_ terminal: Terminal, excerptLimit: Int = 8) -> [String] {
    let place = [file, line.map { "\($0)" }, column.map { "\($0)" }].compactMap(\.self).joined(separator: ":")
    let color: Terminal.Color =
      switch severity {
      case .error: .red
      case .warning: .yellow
      case .note: .dim
      }
    let head =
      (place.isEmpty ? "" : terminal.colored("\(place): ", .bold)) + terminal.colored("\(severity.rawValue): ", color)
    return [head + PrintableText.of(message)] + excerpt.prefix(excerptLimit).map { PrintableText.of($0) }
  }
}
