/// Text of others, such as the words of a plugin, made fit to be shown: it begins no line, drives no terminal, and has an end.
package enum PlainText {
  /// Behind what was cut off.
  private static let mark = "…"

  /// On one line. Control characters, separators of lines and characters that turn the direction of writing become escapes
  /// (`\n`, `\u{1B}`): they can be read, and do nothing.
  package static func line(_ text: String) -> String {
    guard text.utf8.contains(where: mayAct), text.unicodeScalars.contains(where: acts) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if acts(scalar) { shown += escape(scalar) } else { shown.unicodeScalars.append(scalar) }
    }
    return shown
  }

  /// The same, and not longer than so many bytes.
  package static func line(_ text: String, limitBytes: Int) -> String {
    // What is escaped grows.
    cut(line(cut(text, limitBytes: limitBytes)), limitBytes: limitBytes)
  }

  /// Text of at most so many bytes, with a mark where something was cut off.
  package static func cut(_ text: String, limitBytes: Int) -> String {
    guard text.utf8.count > limitBytes else { return text }
    return String(decoding: text.utf8.prefix(wholeCount(text.utf8, limitBytes - mark.utf8.count)), as: UTF8.self) + mark
  }

  /// How many of the first `limit` bytes hold whole characters.
  private static func wholeCount(_ bytes: String.UTF8View, _ limit: Int) -> Int {
    var kept = bytes.prefix(max(limit, 0))
    guard kept.endIndex < bytes.endIndex else { return kept.count }
    // The byte behind the cut continues a character: that one goes, to its first byte.
    while isContinuation(bytes[kept.endIndex]), !kept.isEmpty { kept = kept.dropLast() }
    return kept.count
  }

  private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

  /// Whether a character does something where it is shown, instead of being shown.
  package static func acts(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F: true
    // Separators of lines and paragraphs; marks and overrides of direction (Unicode TR 36, 2.8).
    case 0x2028, 0x2029, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// False for every byte of most texts.
  private static func mayAct(_ byte: UInt8) -> Bool { byte < 0x20 || byte >= 0x7F }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
}
