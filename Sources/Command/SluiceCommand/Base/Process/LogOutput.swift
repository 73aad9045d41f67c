import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluiceSupport

/// Writes messages of the command and its engine to standard error, as lines for people or as one JSON document per
/// line. Can be used on any thread.
enum LogOutput {
  enum Format: String, CaseIterable, Sendable {
    case text, json
  }

  static let options = [
    Option(
      "log-format", nil, "FORMAT", words: ["text", "json"],
      "Write messages as text (default), or each as a JSON document on one line (json)"),
    Option(
      "log-level", nil, "LEVEL", words: LogLine.Level.names,
      "Write messages of this level and above: debug, info, warning, error"),
  ]

  struct Settings: Sendable {
    var format = Format.text
    /// The lowest level that is shown. If it is nil, warnings and errors, messages of the command itself, and the end
    /// of each swap are shown.
    var least: LogLine.Level?
  }

  private static let settings = Locked(Settings())
  /// The last swap whose end was shown. The engine logs the end once for each library, and only the first line is
  /// shown.
  private static let lastSwap = Locked(0)

  /// Call it before the engine starts.
  static func adopt(_ new: Settings) { settings.withLock { $0 = new } }

  static var format: Format { settings.withLock { $0.format } }

  /// The lowest level of plugins' messages that is shown.
  static var minimumLevel: LogLine.Level { settings.withLock { $0.least ?? .warning } }

  /// Shows a message of the engine or a plugin, unless its level is too low.
  static func show(_ line: LogLine) {
    let settings = settings.withLock { $0 }
    guard isWanted(line, settings), isNews(line) else { return }
    switch settings.format {
    case .text: StandardError.write(lines(text(of: line)))
    case .json: write(document(of: line, at: UniversalTime.now))
    }
  }

  /// Shows a message of the command.
  static func show(_ message: String, _ level: LogLine.Level) {
    let settings = settings.withLock { $0 }
    guard !message.isEmpty, level >= settings.least ?? .debug else { return }
    let message = PrintableText.of(message)
    switch settings.format {
    case .text: StandardError.write(lines(message))
    case .json: write(document(of: LogLine(level: level, message: message), at: UniversalTime.now))
    }
  }

  static func isWanted(_ line: LogLine, _ settings: Settings) -> Bool {
    guard let least = settings.least else { return line.level >= .warning || line.swap != nil }
    return line.level >= least
  }

  private static func isNews(_ line: LogLine) -> Bool {
    guard let swap = line.swap else { return true }
    return lastSwap.withLock { last in
      defer { last = swap.id }
      return last != swap.id
    }
  }

  // MARK: Forms

  static func text(of line: LogLine) -> String {
    let speaker = line.plugin.map { "plugin \"\($0)\": " } ?? ""
    let subject = JSONValue.object()
    addSubject(of: line, to: subject)
    return "\(line.level): \(speaker)\(PrintableText.of(line.message))\(words(ofSubject: subject))"
  }

  static func document(of line: LogLine, at time: Duration) -> JSONValue {
    let document: JSONValue = [
      "time": JSONValue(UniversalTime.text(time)), "level": JSONValue("\(line.level)"),
      "message": JSONValue(PrintableText.of(line.message)),
    ]
    document["plugin"] = line.plugin.map { JSONValue($0) }
    document["generation"] = line.generation.map { JSONValue(Int64($0)) }
    document["stage"] = line.stage.map { JSONValue($0) }
    addSubject(of: line, to: document)
    document["swap"] = line.swap?.document()
    return document
  }

  /// The JSON members that `addSubject` adds to a document.
  static let subjectKeys = ["transaction", "requestId", "attempt", "attributes"]

  /// Adds the transaction that a line is about, and the attributes of the transaction with secrets redacted.
  static func addSubject(of line: LogLine, to document: JSONValue) {
    document["transaction"] = line.transaction.map { JSONValue($0.description) }
    document["requestId"] = line.requestID.map { JSONValue(PrintableText.of($0)) }
    document["attempt"] = line.attempt.map { JSONValue(Int64($0)) }
    document["attributes"] = JSONValue.shown(line.attributes)
  }

  /// The same facts as text for people: ` http.route="/a b" status=503 transaction=…`; empty if the document has none
  /// of them.
  static func words(ofSubject document: JSONValue) -> String {
    var words = document["attributes"]?.members.map { " \($0.key)=\(word($0.value))" } ?? []
    for key in subjectKeys where key != "attributes" {
      if let value = document[key] { words.append(" \(key)=\(word(value))") }
    }
    return words.joined()
  }

  /// Quotes a text that contains anything but letters, digits and `._-/:`.
  private static func word(_ value: JSONValue) -> String {
    guard let text = value.string else { return PrintableText.of(value.description) }
    let isPlain = text.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "-")...UInt8(ascii: ":"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isPlain && !text.isEmpty ? text : PrintableText.of(value.description)
  }

  /// Each line begins with the program's name.
  private static func lines(_ message: String) -> String {
    message.split(separator: "\n", omittingEmptySubsequences: false).map { "sluice: \($0)\n" }.joined()
  }

  static func write(_ document: JSONValue) {
    // This does not fail, because the command makes only documents that can be written as JSON.
    guard let line = try? document.serialized() else { return }
    StandardError.write(String(decoding: line, as: UTF8.self) + "\n")
  }
}

extension LogLine.Level {
  static let names = ["debug", "info", "warning", "error"]

  init?(name: String) {
    guard let index = Self.names.firstIndex(of: name) else { return nil }
    self.init(rawValue: index)
  }
}

extension LogOutput.Settings {
  /// `--log-format` and `--log-level`.
  init(_ arguments: ParsedArguments) throws(CommandError) {
    if let text = arguments["log-format"] {
      guard let format = LogOutput.Format(rawValue: text) else {
        throw CommandError(.usage, "--log-format: expected text or json, found \"\(PrintableText.of(text))\"")
      }
      self.format = format
    }
    if let text = arguments["log-level"] {
      guard let level = LogLine.Level(name: text) else {
        let names = LogLine.Level.names.joined(separator: ", ")
        throw CommandError(.usage, "--log-level: expected one of \(names), found \"\(PrintableText.of(text))\"")
      }
      least = level
    }
  }
}
