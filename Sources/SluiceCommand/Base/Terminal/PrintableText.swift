import SluiceMessages

/// Text from other sources, made safe for a terminal.
enum PrintableText {
  /// Replaces each control character except line ends and tabs, and each character that changes the direction of
  /// writing, by `?`.
  static func of(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { shown.append(isHarmful(scalar) ? "?" : scalar) }
    return String(shown)
  }

  /// Does the same, and joins all lines to one line.
  static func line(_ text: String) -> String {
    of(text).split(separator: "\n").joined(separator: " ")
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    PlainText.acts(scalar) && scalar != "\n" && scalar != "\t"
  }
}
