import SluiceIDNA
import SluiceMessages

/// A URL as somebody types it, possibly without its scheme.
enum TypedURL {
  /// The URL that a text means: itself where it has a scheme; from `http://` where it begins with a host, as with curl;
  /// else what it refers to from the base.
  static func resolve(_ text: String, against base: HTTPURL?) throws(MessageError) -> HTTPURL {
    try RelativeReference.resolve(
      beginsWithHost(text, hasBase: base != nil) ? "http://\(text)" : text, against: base, hosts: .idna)
  }

  /// `localhost:8080/x` can be nothing else, although `localhost` could be the name of a scheme. `example.com/x` could be
  /// a path as well, and is one where there is a base.
  private static func beginsWithHost(_ text: String, hasBase: Bool) -> Bool {
    guard let first = text.utf8.first, isLetterOrDigit(first) || first >= 0x80 || first == UInt8(ascii: "[") else {
      return false
    }
    let authority = text.utf8.prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
    // A user without a scheme before it could be the opaque part of any other URL, such as "mailto:".
    guard !authority.contains(UInt8(ascii: "@")) else { return false }
    let end = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    guard let colon = authority[end...].firstIndex(of: UInt8(ascii: ":")) else {
      return !hasBase || first == UInt8(ascii: "[")
    }
    let port = authority[authority.index(after: colon)...]
    return !port.isEmpty && port.allSatisfy { (0x30...0x39).contains($0) }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
  }
}
