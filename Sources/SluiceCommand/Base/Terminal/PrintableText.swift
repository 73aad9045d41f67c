import SluiceMessages

/// Text from other sources, made safe for a terminal.
enum PrintableText {
  /// Writes `?` in the place of control characters and of characters that change the direction of writing. Line ends
  /// and tabs stay.
  static func of(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { shown.append(isHarmful(scalar) ? "?" : scalar) }
    return String(shown)
  }

  /// Makes the text safe as ``of(_:)`` does, and joins all lines to one line.
  static func line(_ text: String) -> String {
    of(text).split(separator: "\n").joined(separator: " ")
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    PlainText.acts(scalar) && scalar != "\n" && scalar != "\t"
  }
}
