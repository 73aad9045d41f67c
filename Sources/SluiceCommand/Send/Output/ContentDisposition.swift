import SluiceMessages

/// The file name that a server suggests (RFC 6266).
enum ContentDisposition {
  /// The last component of the name in `filename`, or otherwise in `filename*`. Nil if there is no name, or if the name
  /// leads to another folder or contains control characters.
  static func filename(_ field: String) -> String? {
    let parameters = parameters(field)
    let plain = parameters.first { $0.name == "filename" }?.value
    let extended = parameters.first { $0.name == "filename*" }.flatMap { decoded($0.value) }
    return (plain ?? extended).flatMap(safe)
  }

  /// The last component of a path, in which slashes and backslashes separate components, as a visible name.
  static func safe(_ name: String) -> String? {
    let last = name.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
    guard OutputPath.isFileName(last), last.utf8.count <= 255 else { return nil }
    return OutputPath.visible(last)
  }

  /// The parameters after the type, with names in lower case. Quotes are removed. A backslash before a quote or a
  /// backslash is an escape; elsewhere it is a Windows separator, as in browsers.
  private static func parameters(_ field: String) -> [(name: String, value: String)] {
    var (parts, part, isQuoted, rest) = ([String](), "", false, Substring(field))
    while let character = rest.popFirst() {
      switch character {
      case "\"":
        isQuoted.toggle()
      case "\\" where isQuoted && (rest.first == "\"" || rest.first == "\\"): part.append(rest.removeFirst())
      case ";" where !isQuoted:
        parts.append(part)
        part = ""
      default: part.append(character)
      }
    }
    parts.append(part)
    return parts.dropFirst().compactMap { part in
      guard let equals = part.firstIndex(of: "=") else { return nil }
      return (trimmed(part[..<equals]).lowercased(), trimmed(part[part.index(after: equals)...]))
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop(while: \.isWhitespace)
    return String(start.reversed().drop(while: \.isWhitespace).reversed())
  }

  /// `UTF-8'LANGUAGE'PERCENT-ENCODED` (RFC 8187).
  private static func decoded(_ value: String) -> String? {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
    return String(validating: PercentCoding.decoded(parts[2].utf8.span), as: UTF8.self)
  }
}
