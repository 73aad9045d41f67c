import SluiceIDNA
import SluiceMessages

/// A URL that a user has typed, with or without a scheme.
enum TypedURL {
  /// The URL that a text stands for. A text with a scheme is already a URL. If the text begins with a host, `http://`
  /// is added, as with curl. Otherwise the text is a reference relative to the base.
  static func resolve(_ text: String, against base: HTTPURL?) throws(MessageError) -> HTTPURL {
    try RelativeReference.resolve(
      beginsWithHost(text, hasBase: base != nil) ? "http://\(text)" : text, against: base, hosts: .idna)
  }

  /// Whether a text begins with a host. `localhost:8080/x` does, although `localhost` could be a scheme.
  /// `example.com/x` could also be a path, and counts as a path if there is a base.
  private static func beginsWithHost(_ text: String, hasBase: Bool) -> Bool {
    guard let first = text.utf8.first, first.isLetterOrDigit || first >= 0x80 || first == UInt8(ascii: "[") else {
      return false
    }
    let authority = text.utf8.prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
    // A text with `@` in its first part can be a URL with another scheme, such as "mailto:".
    guard !authority.contains(UInt8(ascii: "@")) else { return false }
    let end = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    guard let colon = authority[end...].firstIndex(of: UInt8(ascii: ":")) else {
      return !hasBase || first == UInt8(ascii: "[")
    }
    let port = authority[authority.index(after: colon)...]
    return !port.isEmpty && port.allSatisfy { (0x30...0x39).contains($0) }
  }
}

extension UInt8 {
  /// Whether this is a letter or digit of ASCII.
  var isLetterOrDigit: Bool { (0x61...0x7A).contains(self | 0x20) || (0x30...0x39).contains(self) }
}
