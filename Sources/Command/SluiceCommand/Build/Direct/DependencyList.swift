/// The list of files that a compiler has read, in make's syntax: `output : /a /b\ c`.
enum DependencyList {
  /// The absolute paths after the colons; nil if the text does not have this form.
  static func paths(in text: String) -> Set<String>? {
    var paths: Set<String> = []
    for line in text.replacing("\\\n", with: " ").split(separator: "\n") {
      guard let separator = line.firstRange(of: " : ") ?? line.firstRange(of: ": ") else { return nil }
      for word in words(line[separator.upperBound...]) {
        guard word.hasPrefix("/") else { return nil }
        paths.insert(word)
      }
    }
    return paths
  }

  private static func words(_ text: Substring) -> [String] {
    var words: [String] = []
    var word = ""
    var escape: Character?
    for character in text {
      switch (escape, character) {
      case ("\\", _), ("$", "$"):
        word.append(character)
        escape = nil
      case (nil, "\\"), (nil, "$"): escape = character
      case (_, " "):
        if !word.isEmpty { words.append(word) }
        word = ""
      default: word.append(character)
      }
    }
    return word.isEmpty ? words : words + [word]
  }
}
