import SluiceMessages

/// Text from other sources, made safe for a terminal.
enum PrintableText {
  /// Replaces by `?` all control characters except line ends and tabs, and all characters that change the direction of
  /// writing.
  static func of(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { shown.append(isHarmful(scalar) ? "?" : scalar) }
    return String(shown)
  }

  /// The same, always on one line.
  static func line(_ text: String) -> String {
    of(text).split(separator: "\n").joined(separator: " ")
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    PlainText.acts(scalar) && scalar != "\n" && scalar != "\t"
  }
}
