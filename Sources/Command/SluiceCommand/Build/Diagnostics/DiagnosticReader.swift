/// Finds the diagnostics of gcc, clang, swiftc and linkers in the output of a build, and those of any tool that writes
/// `FILE:LINE:COLUMN: error: MESSAGE`.
struct DiagnosticReader {
  private static let severities: [(word: String, severity: Diagnostic.Severity)] = [
    ("fatal error: ", .error), ("error: ", .error), ("warning: ", .warning), ("note: ", .note), ("remark: ", .note),
  ]
  private static let excerptLimit = 24
  private static let lastLines = 20

  private var found: [Diagnostic] = []
  /// Whether the next lines can be the excerpt of the last diagnostic.
  private var isOpen = false
  /// The last lines of the output, for a build that fails without a diagnostic.
  private(set) var tail: [String] = []

  mutating func add(_ raw: String) {
    let line = EscapeSequences.removed(from: raw)
    tail.append(line)
    if tail.count > Self.lastLines { tail.removeFirst() }
    if let diagnostic = Self.diagnostic(in: line) {
      // A repeated diagnostic is not stored, and its excerpt must not be stored either.
      isOpen = !found.contains { $0.isSame(as: diagnostic) }
      if isOpen { found.append(diagnostic) }
    } else if Self.isExcerpt(line) {
      if isOpen, let last = found.indices.last, found[last].excerpt.count < Self.excerptLimit {
        found[last].excerpt.append(line)
      }
    } else {
      isOpen = false
    }
  }

  /// The diagnostics. If one of them is an error with a source line, errors that only say that a step failed are left
  /// out.
  var diagnostics: [Diagnostic] {
    guard found.contains(where: { $0.severity == .error && $0.line != nil }) else { return found }
    return found.filter { $0.severity != .error || $0.line != nil || !Self.isConsequence($0.message) }
  }

  private static func isConsequence(_ message: String) -> Bool {
    message.contains("command failed") || message.contains("ld returned") || message.contains("fatalError")
  }

  private static func diagnostic(in line: String) -> Diagnostic? {
    for (word, severity) in severities {
      if line.hasPrefix(word) {
        return Diagnostic(severity: severity, message: String(line.dropFirst(word.count)))
      }
      guard let range = line.firstRange(of: ": \(word)"), !isExcerpt(line) else { continue }
      var diagnostic = Diagnostic(severity: severity, message: String(line[range.upperBound...]))
      (diagnostic.file, diagnostic.line, diagnostic.column) = place(line[..<range.lowerBound])
      return diagnostic
    }
    // GNU ld writes this message without a severity.
    guard let range = line.firstRange(of: ": undefined reference to ") else { return nil }
    var diagnostic = Diagnostic(severity: .error, message: "undefined reference to \(line[range.upperBound...])")
    let place = line[..<range.lowerBound]
    let withoutTool = place.firstRange(of: "ld: ").map { place[$0.upperBound...] } ?? place
    (diagnostic.file, diagnostic.line, diagnostic.column) = Self.place(withoutTool)
    return diagnostic
  }

  /// `FILE:LINE:COLUMN`, `FILE:LINE`, or the name of a tool.
  private static func place(_ text: Substring) -> (String?, Int?, Int?) {
    var parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var numbers: [Int] = []
    while parts.count > 1, numbers.count < 2, let number = parts.last.flatMap({ Int($0) }) {
      numbers.insert(number, at: 0)
      parts.removeLast()
    }
    return (parts.joined(separator: ":"), numbers.first, numbers.dropFirst().first)
  }

  /// Recognizes lines such as ` 12 | code` and ` | ^`, and the excerpts of clang, whose lines only begin with spaces.
  private static func isExcerpt(_ line: String) -> Bool {
    let rest = line.drop { $0 == " " || $0 == "\t" || $0.isNumber }
    return rest.first == "|" || (line.first == " " && line.contains { $0 != " " })
  }
}
