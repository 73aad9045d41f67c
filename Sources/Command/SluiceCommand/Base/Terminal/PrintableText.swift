import SluiceMessages

/// Text from other sources, made safe for a terminal.
enum PrintableText {
  /// Writes escapes such as `\u{1B}` in the place of control characters, of characters that change the direction of
  /// writing, and of invisible ones. Line breaks and tabs stay.
  static func of(_ text: String) -> String { PlainText.lines(text) }

  /// Makes the text safe as ``of(_:)`` does, and joins all lines to one line.
  static func line(_ text: String) -> String {
    of(text).split(separator: "\n").joined(separator: " ")
  }
}
