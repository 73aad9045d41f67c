/// Makes foreign text, such as a plugin's message or a value from a file, safe to show: it cannot begin a new line or
/// control a terminal, and its length is bounded. Valid UTF-8 stays readable.
package enum PlainText {
  /// The maximum number of bytes of a value that a message repeats.
  package static let quoteLimitBytes = 120
  /// The maximum number of bytes of a path that a message repeats.
  private static let pathLimitBytes = 1024

  /// Marks the place where text was cut off.
  private static let mark = "…"

  /// Returns the text on one line. Control characters, line separators, characters that change the direction of writing
  /// and invisible characters become escapes (`\n`, `\u{1B}`, `\u{FEFF}`), which are visible and have no effect.
  package static func line(_ text: String) -> String { escaping(text) { acts($0) || isInvisible($0) } }

  /// Returns the text with the escapes of ``line(_:)``. Line breaks and tabs stay.
  package static func lines(_ text: String) -> String {
    escaping(text) { acts($0) && $0 != "\n" && $0 != "\t" || isInvisible($0) }
  }

  private static func escaping(_ text: String, _ isEscaped: (Unicode.Scalar) -> Bool) -> String {
    guard text.utf8.contains(where: mayAct), text.unicodeScalars.contains(where: isEscaped) else { return text }
    var shown = ""
    var isAfterASCII = true
    for scalar in text.unicodeScalars {
      if isEscaped(scalar), isAfterASCII || !isJoining(scalar) {
        shown += escape(scalar)
      } else {
        shown.unicodeScalars.append(scalar)
      }
      isAfterASCII = scalar.isASCII
    }
    return shown
  }

  /// Like ``line(_:)``, with at most `limitBytes` bytes.
  package static func line(_ text: String, limitBytes: Int) -> String {
    // Escapes make the text longer, so it is cut again.
    cut(line(cut(text, limitBytes: limitBytes)), limitBytes: limitBytes)
  }

  /// Returns at most `limitBytes` bytes of the text, with a mark where it was cut off.
  package static func cut(_ text: String, limitBytes: Int) -> String {
    guard text.utf8.count > limitBytes else { return text }
    return String(decoding: text.utf8.prefix(wholeCount(text.utf8, limitBytes - mark.utf8.count)), as: UTF8.self) + mark
  }

  /// Returns a value between quotes, for a message that repeats it: `"GE T"`. A long value is cut, and its size
  /// follows: `"aaa…" (70000 bytes)`.
  package static func quote(_ text: some StringProtocol) -> String { quote(Array(text.utf8).span) }

  /// Returns bytes between quotes, for a message that repeats them. Bytes that are not UTF-8 are shown in the form
  /// `\xE9`. A long value is cut, and its size follows.
  package static func quote(_ bytes: Span<UInt8>) -> String {
    let size = bytes.count > quoteLimitBytes ? " (\(bytes.count) bytes)" : ""
    return "\"\(excerpt(bytes))\"\(size)"
  }

  /// Returns a path for a message, on one line.
  package static func path(_ path: String) -> String { line(path, limitBytes: pathLimitBytes) }

  /// The beginning of a value, as ``quote(_:)`` shows it, without quotes and size.
  package static func excerpt(_ bytes: Span<UInt8>) -> String {
    guard bytes.count > quoteLimitBytes else { return line(decoded(bytes)) }
    // A character that the limit splits is dropped; bytes that are not part of a valid character are kept.
    var end = quoteLimitBytes
    while end > quoteLimitBytes - 3, isContinuation(bytes[end]) { end -= 1 }
    if isContinuation(bytes[end]) { end = quoteLimitBytes }
    return line(decoded(bytes.extracting(0..<end))) + mark
  }

  private static func decoded(_ bytes: Span<UInt8>) -> String {
    let copy = [UInt8](copying: bytes)
    if let text = String(validating: copy, as: UTF8.self) { return text }
    var text = ""
    var rest = copy[...]
    while let byte = rest.first {
      let character = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
      text += character ?? "\\x" + hexadecimal(byte)
      rest.removeFirst(character?.utf8.count ?? 1)
    }
    return text
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  /// The number of bytes, at most `limit`, that form whole characters.
  private static func wholeCount(_ bytes: String.UTF8View, _ limit: Int) -> Int {
    var kept = bytes.prefix(max(limit, 0))
    guard kept.endIndex < bytes.endIndex else { return kept.count }
    // While the byte after the cut continues a character, this character is cut in two: its last kept byte is dropped.
    while isContinuation(bytes[kept.endIndex]), !kept.isEmpty { kept = kept.dropLast() }
    return kept.count
  }

  private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

  /// Whether a character acts on the display instead of being shown.
  package static func acts(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F: true
    // Line and paragraph separators; direction marks and overrides (Unicode TR 36, 2.8).
    case 0x2028, 0x2029, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Whether a character is not seen, or looks like the space of ASCII without being it.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else { return false }
    let properties = scalar.properties
    // The Braille pattern without dots, and the marks around annotations, are not in these classes.
    return properties.isDefaultIgnorableCodePoint || properties.generalCategory == .spaceSeparator
      || scalar.value == 0x2800 || (0xFFF9...0xFFFB).contains(scalar.value)
  }

  /// Whether a character belongs to the one before it, as in emoji and in some scripts: joiners and variation selectors.
  private static func isJoining(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200C...0x200D, 0xFE00...0xFE0F: true
    default: false
    }
  }

  /// Whether a byte can be part of a character that acts on the display; false for every byte of most texts.
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
