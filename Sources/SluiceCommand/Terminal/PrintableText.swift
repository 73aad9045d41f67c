/// Text of others, made harmless for a terminal.
enum PrintableText {
  /// Control characters but line ends and tabs become `?`.
  static func of(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { shown.append(isHarmful(scalar) ? "?" : scalar) }
    return String(shown)
  }

  /// The same on one line, whatever it was.
  static func line(_ text: String) -> String {
    of(text).split(separator: "\n").joined(separator: " ")
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    return isControl && scalar != "\n" && scalar != "\t"
  }
}
