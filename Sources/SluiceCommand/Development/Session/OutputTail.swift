/// The lines that a process wrote last, within bounds.
struct OutputTail {
  /// A runtime writes the frames of a deep stack behind its reason, which must still be there.
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
