/// The last lines that a process wrote, in a bounded buffer.
struct OutputTail {
  /// The number of kept lines. It is large enough for the frames of a deep stack, because a runtime writes the error
  /// message before the frames, and the message must be kept.
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
