/// The last lines that a process wrote, in a bounded buffer.
struct OutputTail {
  /// The number of kept lines. A runtime writes the error message before the frames of the stack. The number is so
  /// large that the message is kept even if the stack is deep.
  private static let keptLines = 400
  private static let keptCharacters = 2000

  private var lines: [String] = []

  mutating func append(_ line: String) {
    lines.append(String(line.prefix(Self.keptCharacters)))
    if lines.count > Self.keptLines { lines.removeFirst(lines.count - Self.keptLines) }
  }

  func last(_ count: Int) -> [String] { Array(lines.suffix(count)) }

  var bytes: [UInt8] { Array(lines.joined(separator: "\n").utf8) }
}
